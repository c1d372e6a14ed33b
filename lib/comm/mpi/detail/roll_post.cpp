#include <mastic/comm/mpi/detail/roll_post.hpp>

#include <list>

#include <mastic/comm/mpi/detail/check.hpp>

namespace mastic::comm::detail {

namespace {

constexpr int tag = 1;
constexpr int word_size = static_cast<int>(sizeof(RollWord));

class MpiRollPost : public RollPost {
  public:
    MpiRollPost(MPI_Comm world, bool works_when_idle) : works_when_idle_(works_when_idle) {
        check(MPI_Comm_dup(world, &comm_), "MPI_Comm_dup");
        check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    }

    void send(const std::vector<RollLetter>& letters) override {
        for (const RollLetter& letter : letters) {
            Sending& sending = sending_.emplace_back();
            sending.word = letter.word;
            if (MPI_Isend(&sending.word, word_size, MPI_BYTE, letter.process, tag, comm_, &sending.request) !=
                MPI_SUCCESS) {
                sending_.pop_back();
            }
        }
    }

    // Bounded: the operations in flight wait meanwhile.
    std::vector<RollWord> receive() override {
        constexpr std::size_t most = 1u << 16;
        constexpr int patience = 3;  // one probe drives MPI's progress, a later one sees what came of it
        forget_sent();
        std::vector<RollWord> words;
        for (int misses = 0; misses < patience && words.size() < most;) {
            int there = 0;
            MPI_Status status;
            if (MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &there, &status) != MPI_SUCCESS) {
                break;
            }
            if (there == 0) {
                ++misses;
                continue;
            }
            RollWord word;
            if (MPI_Recv(&word, word_size, MPI_BYTE, status.MPI_SOURCE, tag, comm_, MPI_STATUS_IGNORE) !=
                MPI_SUCCESS) {
                break;
            }
            words.push_back(word);
        }
        return words;
    }

    bool works_when_idle() const override { return works_when_idle_; }

  private:
    struct Sending {
        RollWord word;
        MPI_Request request = MPI_REQUEST_NULL;
    };

    void forget_sent() {
        std::erase_if(sending_, [](Sending& sending) {
            int done = 0;
            return MPI_Test(&sending.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
        });
    }

    MPI_Comm comm_ = MPI_COMM_NULL;
    bool works_when_idle_;
    std::list<Sending> sending_;
};

}  // namespace

std::shared_ptr<RollPost> make_roll_post(MPI_Comm world, bool works_when_idle) {
    return std::make_shared<MpiRollPost>(world, works_when_idle);
}

}  // namespace mastic::comm::detail
