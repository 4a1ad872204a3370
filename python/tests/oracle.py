"""Naive searches: nothing of fyke is used here."""


def lower(data):
    """ASCII letters in lower case, for str and bytes."""
    if isinstance(data, str):
        return "".join(c.lower() if "A" <= c <= "Z" else c for c in data)
    return data.lower()


def all_matches(patterns, haystack, nocase=False):
    """Every occurrence as (pattern, start, end), by end, start, pattern."""
    if nocase:
        patterns, haystack = [lower(p) for p in patterns], lower(haystack)
    found = [
        (number, at, at + len(pattern))
        for number, pattern in enumerate(patterns)
        for at in range(len(haystack) - len(pattern) + 1)
        if haystack[at : at + len(pattern)] == pattern
    ]
    return sorted(found, key=lambda m: (m[2], m[1], m[0]))


def once(patterns, haystack):
    """The first occurrence of each pattern."""
    seen, kept = set(), []
    for m in all_matches(patterns, haystack):
        if m[0] not in seen:
            seen.add(m[0])
            kept.append(m)
    return kept


# Which match comes first, of those that start behind the one before.
ORDERS = {
    "standard": lambda m: (m[2], m[1], m[0]),
    "leftmost-first": lambda m: (m[1], m[0]),
    "leftmost-longest": lambda m: (m[1], -m[2], m[0]),
}


def not_overlapping(patterns, haystack, kind):
    """The matches of a match kind, which do not overlap."""
    rest, done, kept = all_matches(patterns, haystack), 0, []
    while True:
        rest = [m for m in rest if m[1] >= done]
        if not rest:
            return kept
        kept.append(min(rest, key=ORDERS[kind]))
        done = kept[-1][2]


def replaced(patterns, haystack, kind, replacements):
    """The haystack with the matches of a match kind replaced."""
    parts, done = [], 0
    for pattern, start, end in not_overlapping(patterns, haystack, kind):
        parts += [haystack[done:start], replacements[pattern]]
        done = end
    return haystack[:0].join([*parts, haystack[done:]])


def case(rng, alphabet, most_patterns=8, longest=5, haystack=60):
    """Random patterns, all different, and a haystack in which they occur."""
    join = bytes if isinstance(alphabet, bytes) else "".join
    word = lambda length: join(rng.choice(alphabet) for _ in range(length))  # noqa: E731
    number = rng.randint(1, most_patterns)
    patterns = list(dict.fromkeys(word(rng.randint(1, longest)) for _ in range(number)))
    return patterns, word(rng.randint(0, haystack))
