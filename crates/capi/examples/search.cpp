// Searches a text for words in any case, with handles that free themselves, callbacks that are
// lambdas, and errors that are exceptions.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <fyke.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Free {
    void operator()(fyke_builder *builder) const { fyke_builder_free(builder); }
    void operator()(fyke_searcher *searcher) const { fyke_searcher_free(searcher); }
};

using Builder = std::unique_ptr<fyke_builder, Free>;

// Throws what went wrong.
void check(fyke_status status) {
    if (status < 0) {
        throw std::runtime_error(fyke_last_error());
    }
}

class Searcher {
public:
    explicit Searcher(const std::vector<std::string_view> &words) {
        fyke_builder *made = nullptr;
        check(fyke_builder_new(&made));
        Builder builder(made);
        for (std::size_t id = 0; id < words.size(); id++) {
            const std::string_view word = words[id];
            const auto number = static_cast<std::uint32_t>(id);
            check(fyke_builder_add(made, word.data(), word.size(), number, FYKE_NOCASE));
        }
        check(fyke_builder_semantics(made, FYKE_LEFTMOST_LONGEST));
        fyke_searcher *built = nullptr;
        check(fyke_builder_build(made, &built));
        searcher_.reset(built);
    }

    // Calls `each` with every match. No exception may leave a callback, so one is kept until the
    // scan has stopped.
    template <typename Each> void scan(std::string_view text, Each each) const {
        struct Context {
            Each &each;
            std::exception_ptr thrown;
        } context{each, nullptr};
        const auto call = [](const fyke_match *matches, std::size_t count, void *data) -> int {
            auto &to = *static_cast<Context *>(data);
            try {
                for (std::size_t i = 0; i < count; i++) {
                    to.each(matches[i]);
                }
                return 0;
            } catch (...) {
                to.thrown = std::current_exception();
                return 1;
            }
        };
        check(fyke_scan(searcher_.get(), text.data(), text.size(), call, &context));
        if (context.thrown) {
            std::rethrow_exception(context.thrown);
        }
    }

private:
    std::unique_ptr<fyke_searcher, Free> searcher_;
};

} // namespace

int main() {
    try {
        const std::vector<std::string_view> words = {"sam", "samwise", "frodo"};
        const std::string_view text = "Samwise, Frodo and SAM";
        Searcher(words).scan(text, [&](const fyke_match &match) {
            const std::string found(text.substr(match.start, match.end - match.start));
            std::printf("%u %s\n", match.id, found.c_str());
        });
        Searcher({""});
    } catch (const std::exception &error) {
        std::printf("%s\n", error.what());
    }
}
