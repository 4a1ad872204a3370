// Reads memory and does nothing else: engines are measured against its throughput.

KERNEL(512) read_rate(GLOBAL const uint4 *RESTRICT words, u64 count, GLOBAL u32 *RESTRICT out) {
    u32 seen = 0;
    u64 stride = (u64)GROUPS * ITEMS;
    u64 at = (u64)GROUP * ITEMS + ITEM;
    for (; at + 3 * stride < count; at += 4 * stride) {
        uint4 a = words[at], b = words[at + stride], c = words[at + 2 * stride], d = words[at + 3 * stride];
        seen ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w;
        seen ^= c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
    }
    for (; at < count; at += stride) {
        uint4 a = words[at];
        seen ^= a.x ^ a.y ^ a.z ^ a.w;
    }
    // Practically never true, but the compiler cannot know and has to load all words.
    if (seen == 0x12345678u) out[0] = seen;
}
