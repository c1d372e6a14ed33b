// What one thread of a kernel does with an element or a pack (see pack_walk.hpp), in the arithmetic of the host's reductions:
// the same source, so the same bits.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <mastic/comm/cuda/pack_walk.hpp>
#include <mastic/comm/detail/arithmetic.hpp>
#include <mastic/comm/detail/wire_steps.hpp>

namespace mastic::comm::cuda {

template <class Element>
inline constexpr std::size_t per_word = word_bytes / sizeof(Element);

template <class Element>
using Pack = std::array<Element, per_word<Element>>;

// The words of a buffer from its first pack on.
template <class Element>
Word* words_of(Element* data, const PackRange& range) {
    return reinterpret_cast<Word*>(data + range.head);
}
template <class Element>
const Word* words_of(const Element* data, const PackRange& range) {
    return reinterpret_cast<const Word*>(data + range.head);
}

// into[i] = into[i] op from[i]
template <class Element, class Operation>
struct ReduceBody {
    static constexpr std::size_t per_pack = per_word<Element>;
    Element* into;
    const Element* from;
    PackRange range;
    Word* into_words;
    const Word* from_words;

    ReduceBody(Element* the_into, const Element* the_from, std::size_t count)
        : into(the_into),
          from(the_from),
          range(pack_range(count, per_pack,
                           std::array{Operand{reinterpret_cast<std::uintptr_t>(into), sizeof(Element)},
                                      Operand{reinterpret_cast<std::uintptr_t>(from), sizeof(Element)}})),
          into_words(words_of(into, range)),
          from_words(words_of(from, range)) {}

    constexpr void element(std::size_t i) const { into[i] = detail::apply<Operation>(into[i], from[i]); }
    constexpr void pack(std::size_t index) const {
        auto a = std::bit_cast<Pack<Element>>(into_words[index]);
        const auto b = std::bit_cast<Pack<Element>>(from_words[index]);
        for (std::size_t i = 0; i < per_pack; ++i) {
            a[i] = detail::apply<Operation>(a[i], b[i]);
        }
        into_words[index] = std::bit_cast<Word>(a);
    }
};

// sum[i] = sum[i] / ranks
template <class Element>
struct AverageBody {
    static constexpr std::size_t per_pack = per_word<Element>;
    Element* sum;
    int ranks;
    PackRange range;
    Word* words;

    AverageBody(Element* the_sum, std::size_t count, int the_ranks)
        : sum(the_sum),
          ranks(the_ranks),
          range(pack_range(count, per_pack,
                           std::array{Operand{reinterpret_cast<std::uintptr_t>(sum), sizeof(Element)}})),
          words(words_of(sum, range)) {}

    constexpr void element(std::size_t i) const { sum[i] = detail::averaged(sum[i], ranks); }
    constexpr void pack(std::size_t index) const {
        auto values = std::bit_cast<Pack<Element>>(words[index]);
        for (std::size_t i = 0; i < per_pack; ++i) {
            values[i] = detail::averaged(values[i], ranks);
        }
        words[index] = std::bit_cast<Word>(values);
    }
};

// float32 to and from 16-bit numbers. A pack is a word of those, and two of float32. `Wide` and `Narrow` are const where they
// are only read; `Step` handles one pair of them.
template <class Half, class Step>
struct WireBody {
    using Wide = typename Step::Wide;
    using Narrow = typename Step::Narrow;
    static constexpr std::size_t per_pack = per_word<std::uint16_t>;
    static constexpr std::size_t wide_per_word = per_word<float>;
    Wide* wide;
    Narrow* narrow;
    PackRange range;

    WireBody(Wide* the_wide, Narrow* the_narrow, std::size_t count)
        : wide(the_wide),
          narrow(the_narrow),
          range(pack_range(
              count, per_pack,
              std::array{Operand{reinterpret_cast<std::uintptr_t>(wide), sizeof(float)},
                         Operand{reinterpret_cast<std::uintptr_t>(narrow), sizeof(std::uint16_t)}})),
          wide_words(words_of(wide, range)),
          narrow_words(words_of(narrow, range)) {}

    constexpr void element(std::size_t i) const { Step::template apply<Half>(wide[i], narrow[i]); }
    constexpr void pack(std::size_t index) const {
        std::array<Pack<float>, 2> values = {std::bit_cast<Pack<float>>(wide_words[2 * index]),
                                             std::bit_cast<Pack<float>>(wide_words[2 * index + 1])};
        auto halves = std::bit_cast<Pack<std::uint16_t>>(narrow_words[index]);
        for (std::size_t i = 0; i < per_pack; ++i) {
            Step::template apply<Half>(values[i / wide_per_word][i % wide_per_word], halves[i]);
        }
        if constexpr (Step::writes_wide) {
            wide_words[2 * index] = std::bit_cast<Word>(values[0]);
            wide_words[2 * index + 1] = std::bit_cast<Word>(values[1]);
        }
        if constexpr (Step::writes_narrow) {
            narrow_words[index] = std::bit_cast<Word>(halves);
        }
    }

    decltype(words_of(std::declval<Wide*>(), PackRange{})) wide_words;
    decltype(words_of(std::declval<Narrow*>(), PackRange{})) narrow_words;
};

}  // namespace mastic::comm::cuda
