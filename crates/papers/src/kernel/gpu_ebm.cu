// Jaiswal 2014, 3: a work item searches its share of the text, and m - 1 bytes before it, for one
// pattern; the Index table, the pattern and the text are in device memory.

KERNEL(64) gpu_ebm(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, u32 positions, u32 groups,
                    u32 first_pattern, GLOBAL const u32 *RESTRICT descriptions, GLOBAL const u8 *RESTRICT patterns,
                    GLOBAL const u16 *RESTRICT tables, GLOBAL u32 *RESTRICT found, u32 room) {
    u32 which = first_pattern + GROUP / groups;
    GLOBAL const u8 *pattern = patterns + descriptions[which * 4];
    u32 m = descriptions[which * 4 + 1];
    u32 letters = descriptions[which * 4 + 2];
    GLOBAL const u16 *index = tables + descriptions[which * 4 + 3];
    GLOBAL const u8 *input = text + at;
    u64 begin = overlap + ((u64)(GROUP % groups) * ITEMS + ITEM) * positions;
    if (begin >= bytes) return;
    u32 from = (u32)begin;
    u32 to = bytes - from < positions ? bytes : from + positions;
    // The first match of this share has its last byte at `from`, or later near the beginning of
    // the text.
    u32 i = from < m - 1 ? m - 1 : from;
    u32 j = m - 1;
    while (i < to) {
        u32 byte = folded(input[i], letters);
        u32 equal = byte == pattern[j];
        if (equal && j > 0) {
            i--;
            j--;
            continue;
        }
        if (equal) record(found, room, i + m, which);
        // MovDist. The table's entries are 1 + Index.
        u32 back = index[byte];
        i += m - (j < back ? j : back);
        j = m - 1;
    }
}
