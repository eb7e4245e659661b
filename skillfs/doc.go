// Package skillfs reads a skill from its folder: one SKILL.md, which is
// frontmatter between two lines of three hyphens and a text for an agent, and
// the files beside it. It is strict where a skill is created and lenient where
// one is imported: what other tools wrote is read when its meaning is plain, and
// each liberty taken is a [Warning].
//
// Invariants, each with the test that holds it:
//
//   - I1. Document.Body is the input, byte for byte, whatever its encoding, line
//     endings or correctness: FuzzParse.
//   - I2. No input makes Parse panic, overflow the stack or run for long: aliases,
//     depth and size are judged before YAML is parsed: FuzzParse,
//     TestFrontmatterIsCappedBeforeYAMLIsParsed.
//   - I3. The name of a document is safe as the name of a directory on Linux,
//     macOS and Windows: FuzzParse, TestUnsafeNamesAreRefused.
//   - I4. Line endings, a byte order mark and a missing newline after the
//     frontmatter change nothing in name and description:
//     TestEveryLineEndingAndByteOrderMarkParsesAlike.
//   - I5. No symbolic link inside a folder is followed:
//     TestASymbolicLinkIsReportedAndNotFollowed.
//
// HAZARD: ReadDir trusts the file system between listing a folder and opening
// SKILL.md. Where others may write into the folder, pass the FS of an os.Root,
// which refuses a link that was swapped in meanwhile and leads outside.
//
// It does not import, export or watch yet, and it never writes or executes.
package skillfs
