//! Fewer pixels, each the mean of those it stands for, on white where the picture is transparent.

use super::{DecodedPicture, ShrunkPicture};

/// So that neither side is longer than that; a smaller picture keeps its size.
pub(super) fn shrink(picture: &DecodedPicture, longest: u32) -> ShrunkPicture {
    let side = picture.width.max(picture.height);
    let fit = |length: u32| match side > longest {
        true => u32::try_from(u64::from(length) * u64::from(longest) / u64::from(side)).unwrap_or(1).max(1),
        false => length,
    };
    let (width, height) = (fit(picture.width), fit(picture.height));
    let columns: Vec<(usize, usize)> = (0..width).map(|at| span(at, width, picture.width)).collect();
    let stride = picture.width as usize * picture.channels;
    let mut rgb = Vec::with_capacity(width as usize * height as usize * 3);
    let mut sums = vec![[0_u32; 4]; width as usize];
    for row in 0..height {
        let (first, last) = span(row, height, picture.height);
        sums.fill([0; 4]);
        for line in picture.pixels.chunks_exact(stride).skip(first).take(last - first) {
            add_line(line, picture.channels, &columns, &mut sums);
        }
        rgb.extend(sums.iter().flat_map(|[red, green, blue, count]| {
            [red, green, blue].map(|sum| u8::try_from(sum / (*count).max(1)).unwrap_or(u8::MAX))
        }));
    }
    ShrunkPicture { width, height, rgb }
}

/// Which of the many stand behind one of the few: at least one.
fn span(at: u32, few: u32, many: u32) -> (usize, usize) {
    let edge = |at: u32| usize::try_from(u64::from(at) * u64::from(many) / u64::from(few)).unwrap_or(0);
    let (first, last) = (edge(at), edge(at + 1));
    (first, last.max(first + 1))
}

fn add_line(line: &[u8], channels: usize, columns: &[(usize, usize)], sums: &mut [[u32; 4]]) {
    for (sum, (first, last)) in sums.iter_mut().zip(columns) {
        for pixel in line[first * channels..last * channels].chunks_exact(channels) {
            let [red, green, blue] = flatten(pixel);
            *sum = [sum[0] + red, sum[1] + green, sum[2] + blue, sum[3] + 1];
        }
    }
}

/// A pixel's colours on white.
fn flatten(pixel: &[u8]) -> [u32; 3] {
    let on_white = |value: u8, alpha: u8| {
        let (value, alpha) = (u32::from(value), u32::from(alpha));
        (value * alpha + 255 * (255 - alpha)) / 255
    };
    match *pixel {
        [grey] => [u32::from(grey); 3],
        [grey, alpha] => [on_white(grey, alpha); 3],
        [red, green, blue] => [red.into(), green.into(), blue.into()],
        [red, green, blue, alpha] => [on_white(red, alpha), on_white(green, alpha), on_white(blue, alpha)],
        _ => [255; 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::orientation::Orientation;

    fn picture(width: u32, height: u32, channels: usize, pixels: Vec<u8>) -> DecodedPicture {
        DecodedPicture { width, height, channels, pixels, orientation: Orientation::Upright }
    }

    #[test]
    fn a_pixel_is_the_mean_of_those_behind_it() {
        let shrunk = shrink(&picture(4, 2, 1, vec![0, 100, 10, 30, 100, 0, 20, 40]), 2);
        assert_eq!((shrunk.width, shrunk.height, shrunk.rgb), (2, 1, vec![50, 50, 50, 25, 25, 25]));
        let kept = shrink(&picture(2, 1, 3, vec![1, 2, 3, 4, 5, 6]), 2);
        assert_eq!((kept.width, kept.rgb), (2, vec![1, 2, 3, 4, 5, 6]));
    }

    #[test]
    fn what_is_transparent_is_white() {
        let shrunk = shrink(&picture(2, 1, 4, vec![9, 9, 9, 0, 9, 9, 9, 255]), 10);
        assert_eq!(shrunk.rgb, [255, 255, 255, 9, 9, 9]);
    }

    #[test]
    fn a_line_keeps_a_pixel_of_its_thin_side() {
        let shrunk = shrink(&picture(10_000, 1, 1, vec![7; 10_000]), 100);
        assert_eq!((shrunk.width, shrunk.height), (100, 1));
    }
}
