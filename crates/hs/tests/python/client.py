"""A program that uses python-hyperscan for literals. It prints what it sees, a line for each step.

The printed lines do not depend on the library behind the module. Run with a `libhs.so.5` in a folder
of LD_LIBRARY_PATH, and with the module's folder in PYTHONPATH.
"""

import hyperscan


def database(expressions, flags=0, mode=hyperscan.HS_MODE_BLOCK, ids=None, literal=False):
    made = hyperscan.Database(mode=mode)
    count = len(expressions)
    ids = ids or list(range(count))
    each = flags if isinstance(flags, list) else [flags] * count
    made.compile(expressions=expressions, ids=ids, elements=count, flags=each, literal=literal)
    return made


def matches(made, text, **options):
    """The matches of a text as (id, start, end)."""
    found = []

    def handler(pattern, start, end, flags, context):
        assert flags == 0
        found.append((pattern, start, end, context))

    made.scan(text, match_event_handler=handler, **options)
    # Matches with the same end have no promised order.
    return sorted((end, pattern, start, context) for pattern, start, end, context in found)


def show(step, value):
    print(f"{step}: {value}", flush=True)


def outcome(action):
    """What an action returns, or the class of its error."""
    try:
        return action()
    except Exception as error:
        return type(error).__name__


def block():
    plain = database([b"net", b"fish", b"hoop", b"fisher"])
    show("every occurrence", matches(plain, b"a fisher's net of hoops nets fish"))
    show("no occurrence", matches(plain, b"water"))
    show("an empty text", matches(plain, b""))
    show("a context", matches(plain, b"net", context={"of": "the caller"}))
    chosen = database([b"net", b"hoop"], ids=[4_000_000_000, 7])
    show("ids of the caller", matches(chosen, b"net hoop"))
    mixed = [hyperscan.HS_FLAG_CASELESS, 0, hyperscan.HS_FLAG_SINGLEMATCH]
    show("flags of each", matches(database([b"NeT", b"fish", b"e"], mixed), b"nEt FISH fish eee"))
    starts = database([b"fish", b"is"], hyperscan.HS_FLAG_SOM_LEFTMOST)
    show("starts", matches(starts, b"a fish is a fish"))
    escaped = database([rb"a\.b", rb"\x00\xff", rb"\Q(*)\E", rb"\$1"])
    show("escapes", matches(escaped, b"a.b axb \0\xff (*) $1"))
    show("text", matches(database(["gro\u00df".encode(), "\u00fc".encode()]), "gro\u00df und \u00fcber".encode()))


def pure():
    signs = [b"^a.b$", b"(x|y)*", b"[a-z]+", b"\\d", b"{2,3}?"]
    made = database(signs, hyperscan.HS_FLAG_SOM_LEFTMOST, literal=True)
    show("pure literals", matches(made, b" ".join(signs) + b" ab x 5"))
    one = database([b"1+1"], literal=True)
    show("one pure literal", matches(one, b"11 1+1 111"))


def streams():
    made = database(
        [b"current", b"stream", b"rents"],
        hyperscan.HS_FLAG_SOM_LEFTMOST,
        hyperscan.HS_MODE_STREAM | hyperscan.HS_MODE_SOM_HORIZON_LARGE,
    )
    found = []
    handler = lambda pattern, start, end, flags, context: found.append((end, pattern, start))
    with made.stream(match_event_handler=handler) as stream:
        for chunk in [b"cur", b"", b"r", b"ents of the st", b"ream and currents"]:
            stream.scan(chunk)
    show("matches across chunks", sorted(found))
    found.clear()
    with made.stream(match_event_handler=handler) as stream:
        stream.scan(b"rent")
    with made.stream(match_event_handler=handler) as stream:
        stream.scan(b"s")
    show("streams are apart", found)


def ends():
    made = database([b"fish"])
    found = []

    def stop(pattern, start, end, flags, context):
        found.append(end)
        return len(found) == 2

    scan = lambda: made.scan(b"fish fish fish", match_event_handler=stop)
    show("a handler stops", (outcome(scan), found))

    def fail(*match):
        raise KeyError("of the handler")

    show("a handler fails", outcome(lambda: made.scan(b"fish", match_event_handler=fail)))
    show("and the next scan", matches(made, b"fish"))
    show("an unclosed group", outcome(lambda: database([b"fish", b"(net"])))
    show("an empty expression", outcome(lambda: database([b""])))
    show("a wrong mode", outcome(lambda: made.stream().scan(b"fish")))


def bytes_of_databases():
    made = database([b"net", b"FISH"], hyperscan.HS_FLAG_CASELESS)
    stored = hyperscan.dumpb(made)
    again = hyperscan.loadb(stored)
    again.scratch = hyperscan.Scratch(again)
    show("a stored database", matches(again, b"Net fish"))
    show("damaged bytes", outcome(lambda: hyperscan.loadb(stored[: len(stored) // 2])))
    show("sizes", (made.size() > 0, len(stored) > 0))
    show("info", made.info().startswith(b"Version: 5.4.") and made.info().endswith(b"Mode: BLOCK"))


def scratches():
    small, large = database([b"net"]), database([b"n%d" % i for i in range(500)])
    scratch = hyperscan.Scratch(small)
    small.scratch = scratch.clone()
    show("a cloned scratch", matches(small, b"net"))
    show("many literals", matches(large, b"n499 n7 n"))


if __name__ == "__main__":
    for part in [block, pure, streams, ends, bytes_of_databases, scratches]:
        part()
    show("end", "all parts ran")
