// Lin et al. 2010: from each position a walk of the trie until there is no transition.

// Positions of a group: four per work item, so the root's row is staged once for all of them.
#define POSITIONS 1024
// Bytes of text that a group stages: its positions, and as many after them as the longest pattern has.
#define STAGED (POSITIONS + 256)

KERNEL(256) gpu_pfac(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 finals, TEXTURE table,
                     GLOBAL u32 *RESTRICT output) {
    SHARED_ARRAY(u32, root, 256);
    SHARED_ARRAY(u32, words, STAGED / 4);
    u32 block = GROUP * POSITIONS;
    GLOBAL const u32 *input = (GLOBAL const u32 *)(text + at);
    root[ITEM] = FETCH(table, ITEM);
    for (u32 w = ITEM; w < STAGED / 4 && block + 4 * w < bytes; w += ITEMS) words[w] = input[block / 4 + w];
    BARRIER();

    LOCAL const u8 *staged = (LOCAL const u8 *)words;
    for (u32 i = ITEM; i < POSITIONS && block + i < bytes; i += ITEMS) {
        u32 state = root[staged[i]];
        u32 found = 0;
        for (u32 j = i + 1; state != 0; j++) {
            if (state <= finals) found = state;
            if (block + j >= bytes) break;
            state = FETCH(table, state * 256 + staged[j]);
        }
        output[block + i] = found;
    }
}
