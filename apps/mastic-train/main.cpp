#include <mastic/engine/front/trainer_program.hpp>

int main(int argc, char** argv) {
    return mastic::engine::run_mastic_train(argc, argv, mastic::engine::trainer_program());
}
