// The kernels' dialect: C that compiles as CUDA C++ and as OpenCL C 1.2.
//
//   KERNEL(items) name(args SHARED(words)) { SHARED_HERE(words) ... }
//
// A group has `items` work items; SHARED names the shared memory that the host sizes, as 16-byte
// words. A warp has LANES work items: 32 with CUDA, where BALLOT and SHUFFLE exchange values
// between them. OpenCL has no warps that all drivers support, so each work item is a warp of one
// lane.

#ifdef __OPENCL_VERSION__

typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;

#define KERNEL(items) __kernel __attribute__((reqd_work_group_size(items, 1, 1))) void
// At most `cuda_items` work items with CUDA, exactly `opencl_items` with OpenCL.
#define KERNEL_OF(cuda_items, opencl_items) KERNEL(opencl_items)
// The same, for two groups at a time with CUDA.
#define KERNEL_OF_TWO(cuda_items, opencl_items) KERNEL(opencl_items)
#define FUNCTION static inline
#define GLOBAL __global
#define LOCAL __local
#define RESTRICT restrict
#define SHARED(words) , __local uint4 *words
#define SHARED_HERE(words)
#define SHARED_ARRAY(type, name, count) __local type name[count]
#define TEXTURE __global const u32 *
#define FETCH(texture, at) ((texture)[at])

#define ITEM ((u32)get_local_id(0))
#define ITEMS ((u32)get_local_size(0))
#define GROUP ((u32)get_group_id(0))
#define GROUPS ((u32)get_num_groups(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define ATOMIC_ADD(to, by) atomic_add(to, by)
#define ATOMIC_ADD_LOCAL(to, by) atomic_add(to, by)

#define UINT2(x, y) ((uint2)(x, y))
#define UINT4(x, y, z, w) ((uint4)(x, y, z, w))
#define POPCOUNT(x) popcount((u32)(x))
#define LEADING_ZEROS(x) clz((u32)(x))
// LEADING_ZEROS of a number that is not 0.
#define FIRST_BIT(x) clz((u32)(x))
// The 32 bits of high:low that begin at bit `by`, which is below 32.
#define FUNNEL(low, high, by) ((u32)(((((u64)(high)) << 32) | (u32)(low)) >> (by)))
// Shifts by the low five bits of `by`; its other bits are ignored.
#define SHIFT_LEFT(x, by) ((u32)(x) << ((by) & 31))
#define SHIFT_RIGHT(x, by) ((u32)(x) >> ((by) & 31))
// Byte n, and half n, of a word.
#define BYTE_OF(word, n) ((u32)(word) >> 8 * (n) & 0xff)
#define HALF_OF(word, n) ((u32)(word) >> 16 * (n) & 0xffff)
// The sum of a number and the four bytes of a word.
#define SUM_BYTES(word, to) ((to) + (((((word) & 0xff00ffu) + ((word) >> 8 & 0xff00ffu)) * 0x10001u) >> 16))

#define LANES 1
#define LANE 0
#define WARP ITEM
#define WARP_SYNC()
#define BALLOT(yes) ((yes) ? 1u : 0u)
#define ANY(yes) (yes)
#define SHUFFLE(value, lane) (value)
#define UNIFORM(value) (value)
#define SUM_BELOW(value) 0u
#define UNROLL
#define ROLLED
#define LANES_BELOW 0u
#define ROW_MAP(name)

#else

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define KERNEL(items) extern "C" __global__ void __launch_bounds__(items)
#define KERNEL_OF(cuda_items, opencl_items) extern "C" __global__ void __launch_bounds__(cuda_items, 1)
#define KERNEL_OF_TWO(cuda_items, opencl_items) extern "C" __global__ void __launch_bounds__(cuda_items, 2)
#define FUNCTION static __device__ __forceinline__
#define GLOBAL
#define LOCAL
#define RESTRICT __restrict__
// Copies in blocks write to multiples of 256 bytes, as `place_in_block` needs them.
#ifdef STAGED
#define SHARED_ALIGN 256
#else
#define SHARED_ALIGN 16
#endif
#define SHARED(words)
#define SHARED_HERE(words) extern __shared__ __align__(SHARED_ALIGN) uint4 words[];
#define SHARED_ARRAY(type, name, count) __shared__ type name[count]
#define TEXTURE cudaTextureObject_t
#define FETCH(texture, at) tex1Dfetch<unsigned int>(texture, (int)(at))

#define ITEM threadIdx.x
#define ITEMS blockDim.x
#define GROUP blockIdx.x
#define GROUPS gridDim.x
#define BARRIER() __syncthreads()
#define ATOMIC_ADD(to, by) atomicAdd(to, by)
#define ATOMIC_ADD_LOCAL(to, by) atomicAdd(to, by)

#define UINT2(x, y) make_uint2(x, y)
#define UINT4(x, y, z, w) make_uint4(x, y, z, w)
#define POPCOUNT(x) ((u32)__popc(x))
#define LEADING_ZEROS(x) ((u32)__clz(x))
#define FIRST_BIT(x) first_bit(x)
#define FUNNEL(low, high, by) __funnelshift_r(low, high, by)
#define SHIFT_LEFT(x, by) __funnelshift_l(0, x, by)
#define SHIFT_RIGHT(x, by) __funnelshift_r(x, 0, by)
#define BYTE_OF(word, n) byte_of(word, 1u << 8 * (n))
#define HALF_OF(word, n) half_of(word, 1u << 8 * (n))
#define SUM_BYTES(word, to) sum_bytes(word, to)

#define LANES 32
#define LANE (threadIdx.x & 31)
#define WARP (threadIdx.x >> 5)
#define WARP_SYNC() __syncwarp()
#define BALLOT(yes) __ballot_sync(0xffffffffu, yes)
#define ANY(yes) __any_sync(0xffffffffu, yes)
#define SHUFFLE(value, lane) __shfl_sync(0xffffffffu, value, lane)
#define LANES_BELOW ((1u << LANE) - 1)
// Tells the compiler that a value is the same in all lanes.
#define UNIFORM(value) __shfl_sync(0xffffffffu, value, 0)
#define SUM_BELOW(value) sum_below(value)
#define UNROLL _Pragma("unroll")
// Keeps a loop with a long body from being unrolled: the instruction cache is small.
#define ROLLED _Pragma("unroll 1")

FUNCTION u32 first_bit(u32 x) {
    u32 place;
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(place) : "r"(x));
    return place;
}

// A byte by a dot product with one factor 1 instead of a shift and a mask: the multiply unit is
// less busy than the one that shifts.
FUNCTION u32 byte_of(u32 word, u32 place) {
    u32 number;
    asm("dp4a.u32.u32 %0, %1, %2, 0;" : "=r"(number) : "r"(word), "r"(place));
    return number;
}

FUNCTION u32 half_of(u32 word, u32 place) {
    u32 number;
    asm("dp2a.lo.u32.u32 %0, %1, %2, 0;" : "=r"(number) : "r"(word), "r"(place));
    return number;
}

FUNCTION u32 sum_bytes(u32 word, u32 to) {
    asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(to) : "r"(word), "r"(0x01010101u));
    return to;
}

// The sum of the values of lower lanes.
FUNCTION u32 sum_below(u32 value) {
    u32 sum = value;
    UNROLL
    for (u32 by = 1; by < 32; by <<= 1)
        asm volatile("{ .reg .pred is; .reg .u32 lower; shfl.sync.up.b32 lower|is, %0, %1, 0, 0xffffffff; @is add.u32 %0, %0, lower; }"
            : "+r"(sum) : "r"(by));
    return sum - value;
}

#ifdef STAGED

// Copies in blocks, which GPUs have from compute capability 9.0 on. A unit of its own copies a
// block of text to shared memory, while lanes go on and hold no registers for it. `cargo xtask
// kernels` defines STAGED for the PTX of such GPUs.

// A text as rows of equal length, as the driver encodes it.
typedef struct {
    u64 words[16];
} __attribute__((aligned(64))) RowMap;

#define ROW_MAP(name) , const __grid_constant__ RowMap name

// A block has 32 bytes of each of LANES rows.
#define BLOCK_BYTES (LANES * 32)

// Where the first half of a lane's row is in its block, in words of 16 bytes; the other half is at
// the neighbor (^ 1). The copy swaps the halves of every second group of four rows, so that lanes
// read from different banks.
FUNCTION u32 place_in_block(u32 lane) { return lane * 2 ^ (lane >> 2 & 1); }

FUNCTION u32 shared_address(LOCAL const void *at) { return (u32)__cvta_generic_to_shared(at); }

// Prepares a barrier at which one lane arrives: the one that starts a copy.
FUNCTION void init_barrier(LOCAL u64 *barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Starts the copy of a block: of `rows`, the bytes from `column` on of the rows from `row` on. One
// lane calls it.
FUNCTION void copy_block(LOCAL uint4 *to, const RowMap *rows, u32 column, u32 row, LOCAL u64 *barrier) {
    const u32 at = shared_address(barrier);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(BLOCK_BYTES) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
        ::"r"(shared_address(to)), "l"(rows), "r"(column), "r"(row), "r"(at) : "memory");
}

// Waits until the copy that a barrier counts has arrived. `phase` alternates between 0 and 1.
FUNCTION void wait_for_block(LOCAL u64 *barrier, u32 phase) {
    asm volatile("{ .reg .pred is; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 is, [%0], %1; @!is bra AGAIN; }"
        ::"r"(shared_address(barrier)), "r"(phase) : "memory");
}

// Returns `value` after the loads of all lanes have arrived: `loaded` are bits of what each loaded,
// and `value` is below 2^31. A copy that starts earlier may overwrite what a lane has yet to read,
// because it does not wait for loads.
FUNCTION u32 after_loads(u32 value, u32 loaded) {
    return min(value, __reduce_or_sync(0xffffffffu, loaded | 0x80000000u));
}

#else
#define ROW_MAP(name)
#endif

#endif

// Functions that kernels share.

// Appends a record to a list, whose first word is the number of records. A record without room is
// counted all the same, so that the host knows how much to allocate for the next attempt.
FUNCTION void record(GLOBAL u32 *found, u32 room, u32 place, u32 what) {
    u32 at = ATOMIC_ADD(found, 1u);
    if (at >= room) return;
    found[2 * at + 2] = place;
    found[2 * at + 3] = what;
}

// Reserves places in a list of records; returns the first. The number stops at 2^31 so that it
// cannot overflow: who finds it there subtracts what it added. Reading the number first would
// double the traffic to that word.
FUNCTION u32 reserve(GLOBAL u32 *found, u32 count) {
    u32 first = ATOMIC_ADD(found, count);
    if (first <= 0x80000000u) return first;
    ATOMIC_ADD(found, 0u - count);
    return ~0u - count;
}

// What the host skips in a list of records: a place that was reserved and not needed.
#define HOLE (~0u)

// Most places that a warp reserves at a time, unless it needs more at once.
#define MOST_RESERVED 512u

// The places of a list that a warp reserved and has not filled. One atomic reserves places for many
// records, because all warps share one counter; records are written as they are found, and the
// cache joins them to lines. A reservation has half of the places that the warp reserved before, so
// that a warp with few records leaves few holes.
typedef struct {
    GLOBAL u32 *list;
    u32 capacity;
    // Shared memory: how many places the warp has reserved so far; the first lane uses it.
    LOCAL u32 *reserved;
    u32 next, left;
} Places;

// Reserves places for at least `wanted` records more than are left. Returns how far behind the
// last place that is left the first new one is.
FUNCTION u32 reserve_more(Places *p, u32 wanted) {
    u32 size = 0, first = 0;
    if (LANE == 0) {
        const u32 had = *p->reserved, more = had / 2 < MOST_RESERVED ? had / 2 : MOST_RESERVED;
        size = wanted > more ? wanted : more;
        *p->reserved = had + size;
        first = reserve(p->list, size);
    }
    const u32 jump = SHUFFLE(first, 0) - (p->next + p->left);
    p->left += SHUFFLE(size, 0);
    return jump;
}

// Writes the records of the lanes that have one. All lanes call it. The list begins with `header`
// words; a record without a place is not written, but its place is counted, so that the host knows
// how much to allocate for the next attempt.
FUNCTION void append(Places *p, const u32 header, bool has, u32 place, u32 what) {
    const u32 who = BALLOT(has);
    if (who == 0) return;
    const u32 count = POPCOUNT(who), left = p->left, jump = count > left ? reserve_more(p, count - left) : 0;
    if (has) {
        const u32 rank = POPCOUNT(who & LANES_BELOW), at = p->next + rank + (rank < left ? 0 : jump);
        if (at < p->capacity) ((GLOBAL uint2 *)(p->list + header))[at] = UINT2(place, what);
    }
    p->next += count + jump;
    p->left -= count;
}

// Makes holes of the places that are left, and adds their number to `holes`.
FUNCTION void leave(Places *p, const u32 header, GLOBAL u32 *holes) {
    for (u32 i = LANE; i < p->left; i += LANES)
        if (p->next + i < p->capacity) ((GLOBAL uint2 *)(p->list + header))[p->next + i] = UINT2(0, HOLE);
    if (LANE == 0 && p->left != 0) ATOMIC_ADD(holes, p->left);
    p->next += p->left;
    p->left = 0;
}

// A byte of the text, in lower case if the pattern ignores case: then `letters` is 26, else 0.
FUNCTION u32 folded(u32 byte, u32 letters) {
    return byte - 'A' < letters ? byte | 32u : byte;
}
