//! What an engine expects a set to cost, before anything is built: the planner chooses by it.

/// What an engine expects.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Nanoseconds a byte of haystack, one thread, on data as the model knows it. A measure to compare engines
    /// by: the unit costs behind it were taken at about 3.6 to 4 GHz.
    pub ns_per_byte: f32,
    /// Bytes of memory: the finished tables.
    pub memory: u64,
    /// Milliseconds that compiling takes.
    pub build_ms: f32,
    /// In a few words, what decides: `"0.34 % of positions pass the filter"`.
    pub why: String,
}
