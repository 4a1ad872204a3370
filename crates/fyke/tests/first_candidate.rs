//! No match begins before the first candidate: cases that the soak found, in which `auto` splits the set.

#[path = "support/random_case.rs"]
mod random_case;

use fyke::{Device, registry};

#[test]
fn no_match_begins_before_the_first_candidate() {
    let mut wrong = Vec::new();
    for seed in [1_882_640_025_125_222, 1_882_640_026_173_885, 1_882_640_027_222_363] {
        let case = random_case::case(seed);
        let on_cpu = registry::engines().into_iter().filter(|e| e.info().device == Device::Cpu);
        for name in on_cpu.map(|e| e.info().name) {
            let Ok(matcher) = registry::compile(name, &case.set, None) else { continue };
            for from in 0..case.haystack.len().min(4500) {
                for len in [16, 61, 147, 1000] {
                    let to = case.haystack.len().min(from + len);
                    let first = from + matcher.first_candidate(&case.haystack[from..to]);
                    let lost = case.found.iter().find(|o| {
                        let (start, end) = (o.at.start as usize, o.at.end as usize);
                        from <= start && start < first && end <= to
                    });
                    if let Some(lost) = lost {
                        let parts: Vec<_> = matcher.parts().iter().map(|p| p.engine).collect();
                        let bytes = String::from_utf8_lossy(&case.haystack[from..to]);
                        wrong.push(format!("{seed} {name} {parts:?} in {from}..{to} ({bytes}): {first} is after {lost:?}"));
                    }
                }
            }
        }
    }
    let shown = wrong[..wrong.len().min(6)].join("\n");
    assert!(wrong.is_empty(), "{} wrong\n{shown}", wrong.len());
}
