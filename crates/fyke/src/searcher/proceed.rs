//! What a function that is called for each match may return.

use std::ops::ControlFlow;

/// What a function that is called for each match returns: nothing, or whether to go on.
///
/// ```
/// use std::ops::ControlFlow;
/// let searcher = fyke::Searcher::new(["a"])?;
/// let mut count = 0;
/// searcher.scan("banana", |_| count += 1);
/// assert_eq!(count, 3);
///
/// let flow = searcher.scan("banana", |m| {
///     if m.start > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
/// });
/// assert!(flow.is_break());
/// # Ok::<(), fyke::BuildError>(())
/// ```
pub trait Proceed {
    /// What the scan returns.
    type Flow;

    /// Whether the scan goes on.
    fn proceed(self) -> ControlFlow<()>;

    /// What the scan returns, given whether it was stopped.
    fn flow(flow: ControlFlow<()>) -> Self::Flow;
}

impl Proceed for () {
    type Flow = ();

    #[inline]
    fn proceed(self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn flow(_: ControlFlow<()>) {}
}

impl Proceed for ControlFlow<()> {
    type Flow = ControlFlow<()>;

    #[inline]
    fn proceed(self) -> ControlFlow<()> {
        self
    }

    fn flow(flow: ControlFlow<()>) -> ControlFlow<()> {
        flow
    }
}
