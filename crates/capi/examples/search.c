/* Searches standard input for the arguments, as a stream.
 *
 *     printf 'ushers' | ./search he she hers
 *
 * Prints one line for each match: pattern, start, end. Exit status: 0 match, 1 none, 2 error. */

#include <fyke.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What the callback gets as its context. */
struct output {
    char **patterns;
    uint64_t matches;
};

static int print_matches(const fyke_match *matches, size_t count, void *context) {
    struct output *output = context;
    for (size_t i = 0; i < count; i++) {
        printf("%s %" PRIu64 " %" PRIu64 "\n", output->patterns[matches[i].id], matches[i].start,
               matches[i].end);
    }
    output->matches += count;
    return 0; /* Go on. */
}

/* Builds a searcher in which the id of each pattern is its index. */
static fyke_status build(char **patterns, size_t count, fyke_searcher **searcher) {
    fyke_builder *builder = NULL;
    fyke_status status = fyke_builder_new(&builder);
    for (size_t i = 0; status >= 0 && i < count; i++) {
        status = fyke_builder_add(builder, patterns[i], strlen(patterns[i]), (uint32_t)i, 0);
    }
    if (status >= 0) {
        status = fyke_builder_build(builder, searcher);
    }
    fyke_builder_free(builder);
    return status;
}

static fyke_status search(const fyke_searcher *searcher, FILE *input, struct output *output) {
    fyke_stream *stream = NULL;
    fyke_status status = fyke_stream_new(searcher, &stream);
    char chunk[1 << 16];
    size_t len;
    while (status >= 0 && (len = fread(chunk, 1, sizeof chunk, input)) > 0) {
        status = fyke_stream_feed(stream, chunk, len, print_matches, output);
    }
    if (status >= 0) {
        status = fyke_stream_finish(stream, print_matches, output);
    }
    fyke_stream_free(stream);
    return status;
}

int main(int argc, char **argv) {
    struct output output = {argv + 1, 0};
    fyke_searcher *searcher = NULL;
    fyke_status status = build(argv + 1, (size_t)(argc - 1), &searcher);
    if (status >= 0) {
        status = search(searcher, stdin, &output);
    }
    if (status < 0) {
        fprintf(stderr, "search: %s: %s\n", fyke_status_name(status), fyke_last_error());
    }
    fyke_searcher_free(searcher);
    return status < 0 ? 2 : output.matches == 0;
}
