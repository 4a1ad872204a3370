//! Statistics of samples.

/// Statistics of some times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// The number of samples.
    pub samples: usize,
    /// The least.
    pub min: f64,
    /// The middle one.
    pub median: f64,
    /// The greatest.
    pub max: f64,
    /// Median of the distances from the median: half of the samples lie closer.
    pub mad: f64,
    /// How many samples lie so far off that another program must have run.
    pub outliers: usize,
}

/// A sample is an outlier beyond this many standard deviations, as estimated from the median
/// distance; the threshold of hyperfine.
const OUTLIER_DEVIATIONS: f64 = 14.826;

/// With fewer samples there is no telling which are outliers.
const OUTLIER_SAMPLES: usize = 5;

/// The standard deviation of a normal distribution in median distances.
const DEVIATION_PER_MAD: f64 = 1.4826;

impl Stats {
    /// The statistics of some samples; all zero if there are none.
    pub fn of(samples: &[f64]) -> Self {
        let Some(median) = median(samples) else { return Self::default() };
        let distances: Vec<f64> = samples.iter().map(|s| (s - median).abs()).collect();
        let mad = self::median(&distances).unwrap_or(0.0);
        let enough = mad > 0.0 && samples.len() >= OUTLIER_SAMPLES;
        let far = OUTLIER_DEVIATIONS * DEVIATION_PER_MAD * mad;
        Self {
            samples: samples.len(),
            min: samples.iter().copied().fold(f64::INFINITY, f64::min),
            median,
            max: samples.iter().copied().fold(0.0, f64::max),
            mad,
            outliers: if enough { distances.iter().filter(|&&d| d > far).count() } else { 0 },
        }
    }

    /// The median distance in percent of the median.
    pub fn spread_percent(&self) -> f64 {
        if self.median > 0.0 { 100.0 * self.mad / self.median } else { 0.0 }
    }
}

fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some(f64::midpoint(sorted[middle - 1], upper)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_samples_have_known_statistics() {
        let s = Stats::of(&[3.0, 1.0, 2.0, 5.0, 4.0]);
        assert_eq!((s.samples, s.min, s.median, s.max, s.mad), (5, 1.0, 3.0, 5.0, 1.0));
        assert_eq!(Stats::of(&[1.0, 2.0]).median, 1.5);
        assert_eq!(Stats::of(&[]), Stats::default());
    }

    #[test]
    fn one_sample_far_off_is_an_outlier() {
        let mut samples = vec![10.0, 10.1, 9.9, 10.2, 9.8];
        assert_eq!(Stats::of(&samples).outliers, 0);
        samples.push(100.0);
        assert_eq!(Stats::of(&samples).outliers, 1);
    }
}
