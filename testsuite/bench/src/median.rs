//! Averages of measurements.

/// The median.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The geometric mean.
pub(crate) fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Prints the geometric mean and the least of ratios. The error contains the number of these measurements that failed.
pub(crate) fn summarize(ratios: &[f64], failures: usize, what: &str) -> Result<(), String> {
    if !ratios.is_empty() {
        let min = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        println!("\ngeometric mean {:.3}, least {min:.3}", geometric_mean(ratios));
    }
    if failures == 0 { Ok(()) } else { Err(format!("{failures} {what} failed")) }
}
