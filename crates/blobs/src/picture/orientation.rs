//! How a camera was held, as EXIF tells it.

use super::ShrunkPicture;

/// What has to be done for a picture to stand upright: first mirrored, then turned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Orientation {
    #[default]
    Upright,
    Turned {
        mirrored: bool,
        quarters: u8,
    },
}

/// The tag of orientation in EXIF.
const TAG: u16 = 0x0112;

impl Orientation {
    /// What can't be read is upright.
    pub(super) fn from_exif(exif: Option<&[u8]>) -> Self {
        exif.and_then(find_orientation).map_or(Self::Upright, Self::from_number)
    }

    fn from_number(number: u16) -> Self {
        let turned = |mirrored, quarters| Self::Turned { mirrored, quarters };
        match number {
            2 => turned(true, 0),
            3 => turned(false, 2),
            4 => turned(true, 2),
            5 => turned(true, 3),
            6 => turned(false, 1),
            7 => turned(true, 1),
            8 => turned(false, 3),
            _ => Self::Upright,
        }
    }

    pub(super) fn apply(self, picture: ShrunkPicture) -> ShrunkPicture {
        let Self::Turned { mirrored, quarters } = self else { return picture };
        let mirrored = if mirrored { mirror(picture) } else { picture };
        (0..quarters).fold(mirrored, |picture, _| turn_right(&picture))
    }
}

fn mirror(mut picture: ShrunkPicture) -> ShrunkPicture {
    for row in picture.rgb.chunks_exact_mut(picture.width as usize * 3) {
        let pixels: Vec<[u8; 3]> = row.chunks_exact(3).rev().map(|one| [one[0], one[1], one[2]]).collect();
        row.copy_from_slice(pixels.as_flattened());
    }
    picture
}

fn turn_right(picture: &ShrunkPicture) -> ShrunkPicture {
    let (width, height) = (picture.width as usize, picture.height as usize);
    let mut rgb = Vec::with_capacity(picture.rgb.len());
    for column in 0..width {
        for row in (0..height).rev() {
            let at = (row * width + column) * 3;
            rgb.extend_from_slice(&picture.rgb[at..at + 3]);
        }
    }
    ShrunkPicture { width: picture.height, height: picture.width, rgb }
}

/// The first directory of a TIFF file, which EXIF is.
fn find_orientation(exif: &[u8]) -> Option<u16> {
    let tiff = exif.strip_prefix(b"Exif\0\0").unwrap_or(exif);
    let is_little = match tiff.get(..4)? {
        b"II\x2A\0" => true,
        b"MM\0\x2A" => false,
        _ => return None,
    };
    let short = |at: usize| {
        let bytes: [u8; 2] = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let bytes: [u8; 4] = tiff.get(4..8)?.try_into().ok()?;
    let directory = if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) } as usize;
    let entries = (0..usize::from(short(directory)?)).map(|number| directory + 2 + number * 12);
    entries
        .take_while(|at| short(*at).is_some())
        .find(|at| short(*at) == Some(TAG))
        .and_then(|at| short(at + 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exif(number: u16, is_little: bool) -> Vec<u8> {
        let short = |value: u16| if is_little { value.to_le_bytes() } else { value.to_be_bytes() };
        let long = |value: u32| if is_little { value.to_le_bytes() } else { value.to_be_bytes() };
        let mark: &[u8] = if is_little { b"II\x2A\0" } else { b"MM\0\x2A" };
        [mark, &long(8), &short(1), &short(TAG), &short(3), &long(1), &short(number), &[0, 0]].concat()
    }

    /// Two pixels beside each other, by their first colour.
    fn apply(number: u16) -> (u32, u32, Vec<u8>) {
        let picture = ShrunkPicture { width: 2, height: 1, rgb: vec![1, 1, 1, 2, 2, 2] };
        let turned = Orientation::from_exif(Some(&exif(number, true))).apply(picture);
        (turned.width, turned.height, turned.rgb.chunks_exact(3).map(|pixel| pixel[0]).collect())
    }

    #[test]
    fn a_picture_is_turned_as_its_camera_was_held() {
        assert_eq!(apply(1), (2, 1, vec![1, 2]));
        assert_eq!(apply(2), (2, 1, vec![2, 1]));
        assert_eq!(apply(3), (2, 1, vec![2, 1]));
        assert_eq!(apply(6), (1, 2, vec![1, 2]));
        assert_eq!(apply(8), (1, 2, vec![2, 1]));
        assert_eq!(apply(99), (2, 1, vec![1, 2]));
    }

    #[test]
    fn nonsense_is_upright() {
        assert_eq!(find_orientation(&exif(6, false)), Some(6));
        assert_eq!(find_orientation(b"MM\0\x2A\xFF\xFF\xFF\xFF"), None);
        assert_eq!(find_orientation(b"II\x2A\0\x08\0\0\0\xFF\xFF"), None);
        assert_eq!(find_orientation(b""), None);
    }
}
