//! The arguments that choose contenders.

use super::choose::{Selection, limited};

/// Which engines and rivals take part.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ContenderArgs {
    /// Measure this engine, as NAME or NAME:OPTION=VALUE; may be given several times. `bench cpu`
    /// is judged by the first one [default: `auto` for `bench cpu`, else every product engine]
    #[arg(short, long, value_name = "ENGINE", help_heading = "Contenders")]
    pub engine: Vec<String>,

    /// Measure every engine of the registry, slow ones too
    #[arg(long, conflicts_with = "engine", help_heading = "Contenders")]
    pub all_engines: bool,

    /// Limit the engines to an instruction set, such as avx2; the same as `isa=ISA` in each
    /// --engine
    #[arg(long, value_name = "ISA", help_heading = "Contenders")]
    pub isa: Option<String>,

    /// Leave out the other two measurements of each engine: through Searcher::scan, which sorts
    /// matches, and with all calls of a replay at once
    #[arg(long, help_heading = "Contenders")]
    pub no_ordered: bool,

    /// Measure this rival library; may be given several times [default: those that the matrix names
    /// for `bench cpu`, else all]
    #[arg(
        short,
        long,
        value_name = "RIVAL",
        conflicts_with = "no_rivals",
        help_heading = "Contenders"
    )]
    pub rival: Vec<String>,

    /// Measure no rival libraries
    #[arg(long, help_heading = "Contenders")]
    pub no_rivals: bool,

    /// Fail if one of these contenders or programs is absent
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Contenders")]
    pub require: Vec<String>,
}

impl ContenderArgs {
    /// The selection. `engines` and `rivals` are taken where the arguments name none.
    pub fn selection(&self, engines: &[&str], rivals: Option<&[String]>) -> Selection {
        let default = || engines.iter().map(ToString::to_string).collect();
        let engines = if self.engine.is_empty() { default() } else { self.engine.clone() };
        let engines = engines.iter().map(|e| self.limited(e)).collect();
        let rivals = match (self.no_rivals, &self.rival[..]) {
            (true, _) => Some(Vec::new()),
            (false, []) => rivals.map(<[String]>::to_vec),
            (false, named) => Some(named.to_vec()),
        };
        let engines = if self.all_engines { Vec::new() } else { engines };
        Selection { engines, all_engines: self.all_engines, ordered: !self.no_ordered, rivals }
    }

    /// An engine's specification, with the instruction set it is limited to.
    fn limited(&self, spec: &str) -> String {
        self.isa.as_ref().map_or(spec.into(), |isa| limited(spec, isa))
    }
}
