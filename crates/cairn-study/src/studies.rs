//! Which studies there are.

use crate::collectors::Collectors;
use crate::compression::Compression;
use crate::frames::Frames;
use crate::stacks::Stacks;
use crate::structures::Structures;
use crate::study::Study;

/// All studies, in the order of the command line's help.
pub fn studies() -> Vec<Box<dyn Study>> {
    vec![Box::new(Collectors), Box::new(Frames), Box::new(Stacks), Box::new(Structures), Box::new(Compression)]
}
