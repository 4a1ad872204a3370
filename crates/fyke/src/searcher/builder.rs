//! Settings for a [`Searcher`], and why one could not be built.

use super::short::Short;
use super::{MatchKind, Searcher};
use crate::registry;
use fyke_core::{Device, Matcher, Options, PatternError, PatternSet, Refusal, Semantics};
use std::fmt;
use std::sync::Arc;

/// Settings for a [`Searcher`]: engine, match semantics, threads, limits.
///
/// ```
/// use fyke::{PatternSet, Searcher, Semantics};
///
/// let set = PatternSet::new(["GET ", "Host: "])?;
/// let searcher = Searcher::builder()
///     .engine("ac-dfa")
///     .nocase(true)
///     .semantics(Semantics::Once)
///     .memory_limit(64 << 20)
///     .build(&set)?;
/// assert_eq!(searcher.count("get / HTTP/1.1\r\nhost: a\r\nhost: b"), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SearcherBuilder {
    pub(crate) engine: String,
    pub(crate) semantics: Semantics,
    pub(crate) kind: MatchKind,
    pub(crate) threads: usize,
    pub(crate) nocase: bool,
    pub(crate) short_haystacks: bool,
    pub(crate) options: Options,
}

/// Why a searcher could not be built: a bad pattern, or an engine's refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError(BuildErrorKind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum BuildErrorKind {
    Pattern(PatternError),
    Refused(String, Refusal),
    /// What is wrong with the group of this number.
    Group(usize, Box<BuildErrorKind>),
}

impl BuildError {
    /// The same error, of a group.
    pub(crate) fn in_group(self, group: usize) -> BuildError {
        BuildError(BuildErrorKind::Group(group, Box::new(self.0)))
    }

    pub(crate) fn refused(engine: &str, refusal: Refusal) -> BuildError {
        BuildError(BuildErrorKind::Refused(engine.to_owned(), refusal))
    }

    /// The engine's refusal. `None` if a pattern was bad.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.0.refusal()
    }
}

impl fmt::Display for BuildErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildErrorKind::Pattern(e) => e.fmt(f),
            BuildErrorKind::Refused(engine, refusal) => {
                // A name from a damaged database may have line breaks.
                write!(f, "engine {}: {refusal}", engine.escape_debug())
            }
            BuildErrorKind::Group(group, kind) => write!(f, "group {group}: {kind}"),
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl BuildErrorKind {
    fn refusal(&self) -> Option<&Refusal> {
        match self {
            BuildErrorKind::Pattern(_) => None,
            BuildErrorKind::Refused(_, refusal) => Some(refusal),
            BuildErrorKind::Group(_, kind) => kind.refusal(),
        }
    }

    fn source(&self) -> &(dyn std::error::Error + 'static) {
        match self {
            BuildErrorKind::Pattern(e) => e,
            BuildErrorKind::Refused(_, refusal) => refusal,
            BuildErrorKind::Group(_, kind) => kind.source(),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.0.source())
    }
}

impl From<PatternError> for BuildError {
    fn from(e: PatternError) -> Self {
        BuildError(BuildErrorKind::Pattern(e))
    }
}

impl Default for SearcherBuilder {
    fn default() -> Self {
        Self {
            engine: "auto".to_owned(),
            semantics: Semantics::All,
            kind: MatchKind::Standard,
            threads: 1,
            nocase: false,
            short_haystacks: false,
            options: Options::default(),
        }
    }
}

impl SearcherBuilder {
    /// Selects the engine: an [`EngineName`](crate::EngineName), or a name with its options after a
    /// colon, as in `"ac-dfa:walks=4"`. The default, `"auto"`, chooses one for the set and this
    /// machine.
    pub fn engine(mut self, engine: impl AsRef<str>) -> Self {
        engine.as_ref().clone_into(&mut self.engine);
        self
    }

    /// Selects which matches `scan`, `count`, batches and streams report. The default is
    /// [`Semantics::All`].
    pub fn semantics(mut self, semantics: Semantics) -> Self {
        self.semantics = semantics;
        self
    }

    /// Selects which matches the `find` and `replace_all` calls report, those for readers included.
    /// The default is [`MatchKind::Standard`].
    pub fn match_kind(mut self, kind: MatchKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the number of threads that scan one large haystack. The default is 1; 0 is taken as 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Makes every pattern ignore ASCII case, whatever its own flag says.
    pub fn nocase(mut self, yes: bool) -> Self {
        self.nocase = yes;
        self
    }

    /// Limits the memory of the compiled set, in bytes. An engine that needs more refuses the set
    /// before it allocates. The default is no limit.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.options.memory_limit = Some(bytes);
        self
    }

    /// Gives a sample of the data that will be scanned; a few hundred kilobytes are enough. It is
    /// used to choose the engine and each pattern's rarest window. It changes the speed, never the
    /// matches.
    pub fn sample(mut self, bytes: impl Into<Arc<[u8]>>) -> Self {
        self.options = self.options.sampled(bytes);
        self
    }

    /// Gives the approximate number of bytes that will be scanned in total. `"auto"` chooses a GPU
    /// only if it knows that enough bytes will come, because opening a GPU takes tenths of a
    /// second. It changes the speed, never the matches.
    ///
    /// ```
    /// use fyke::{Device, PatternSet, Searcher};
    ///
    /// let set = PatternSet::new(["needle", "pin"])?;
    /// let searcher = Searcher::builder().threads(4).expected_bytes(1 << 20).build(&set)?;
    /// assert_eq!(searcher.matcher().info().device, Device::Cpu); // too few bytes for a GPU
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn expected_bytes(mut self, bytes: u64) -> Self {
        self.options.expected_bytes = Some(bytes);
        self
    }

    /// Gives the approximate number of bytes per call: of a haystack, or of a chunk of a stream.
    /// `"auto"` then counts the cost per call of each engine, so short calls may get another engine
    /// than long ones. The default is long calls. It changes the speed, never the matches.
    ///
    /// ```
    /// use fyke::{PatternSet, Searcher};
    ///
    /// let set = PatternSet::new((0..1000).map(|user| format!("user={user};")))?;
    /// let packets = Searcher::builder().expected_call(1200).build(&set)?;
    /// assert_eq!(packets.count("GET /?user=42;lang=en"), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn expected_call(mut self, bytes: u64) -> Self {
        self.options.expected_call = Some(bytes);
        self
    }

    /// Says that most haystacks will be short, up to a few hundred bytes. The `find` calls search
    /// them with a transition table or a trie. They are then compiled together with the set, not
    /// once they pay. This changes speed, memory and the time to compile, never the matches.
    ///
    /// It has no effect on an engine that was selected by name or runs on a GPU. It has none on a
    /// set that gets neither: one case-sensitive pattern, a set in which only some patterns ignore
    /// case, or one whose table would exceed 12 MiB and whose trie 64 MiB. Together they take at
    /// most an eighth of what the memory limit leaves.
    ///
    /// ```
    /// use fyke::{PatternSet, Searcher};
    ///
    /// let set = PatternSet::new((0..100).map(|code| format!("error {code}: ")))?;
    /// let searcher = Searcher::builder().short_haystacks(true).build(&set)?;
    /// assert!(searcher.is_match("error 42: no answer"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn short_haystacks(mut self, yes: bool) -> Self {
        self.short_haystacks = yes;
        self
    }

    /// Compiles a set.
    ///
    /// # Errors
    /// No engine has the name, or the engine refuses the set or an option.
    pub fn build(&self, set: &PatternSet) -> Result<Searcher, BuildError> {
        let folded = self.nocase.then(|| set.to_nocase());
        let set = folded.as_ref().unwrap_or(set);
        let matcher = registry::compile_with(&self.engine, set, &self.engine_options())
            .map_err(|refusal| BuildError::refused(&self.engine, refusal))?;
        Ok(self.searcher(matcher))
    }

    /// The options that the engine gets.
    pub(crate) fn engine_options(&self) -> Options {
        self.options.clone().expecting(self.options.expected_bytes, self.threads)
    }

    /// The searcher of a compiled set.
    pub(crate) fn searcher(&self, matcher: Arc<dyn Matcher>) -> Searcher {
        let short = self.short(&matcher);
        Searcher::of(matcher, self, short)
    }

    /// The fast path of the `find` calls, beside a CPU engine that `"auto"` chose.
    fn short(&self, matcher: &Arc<dyn Matcher>) -> Option<Short> {
        let (engine, params) = registry::parse(&self.engine);
        if engine != "auto" || matcher.info().device != Device::Cpu {
            return None;
        }
        let own = matcher.footprint().host;
        let mut opt = self.engine_options().params(params).ok()?;
        opt.memory_limit = opt.memory_limit.map(|limit| limit.saturating_sub(own));
        Short::new(matcher, self.kind, &opt, self.short_haystacks)
    }
}

impl Searcher {
    /// A searcher with the engine that `"auto"` chooses. The ids are the positions of the patterns:
    /// 0, 1, 2 ...
    ///
    /// # Errors
    /// A pattern is empty or longer than 65,535 bytes.
    pub fn new<I, P>(patterns: I) -> Result<Searcher, BuildError>
    where
        I: IntoIterator<Item = P>,
        P: AsRef<[u8]>,
    {
        Self::builder().build(&PatternSet::new(patterns)?)
    }

    /// A builder with the default settings.
    pub fn builder() -> SearcherBuilder {
        SearcherBuilder::default()
    }
}
