package skillfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// FileName is the document's name in a skill's folder, case included.
const FileName = "SKILL.md"

// SkillBytesMax bounds a SKILL.md, in bytes: the longest text of a record.
const SkillBytesMax = 8 << 20

// Bounds of a skill's folder. A folder beyond them is refused, because a skill
// without some of its files is a broken skill.
const (
	folderDepthMax = 6
	folderDirsMax  = 2000
	folderFilesMax = 2000
)

// ErrNoSkill is returned for a folder without a SKILL.md.
var ErrNoSkill = errors.New("skillfs: no SKILL.md")

// skipped are entries that belong to tools and to no skill.
var skipped = []string{".git", "node_modules"}

// ReadDir reads the skill in the folder dir of fsys, a path as in [fs.ValidPath],
// and lists its other files as extras: slash-separated paths relative to dir, in
// lexical order. It leaves out .git and node_modules, symbolic links and what is
// neither file nor folder, and reports the latter two as warnings. The folder dir
// itself may be a symbolic link.
//
// Besides the errors of Parse it returns ErrNoSkill, ErrTooLarge for a SKILL.md
// above SkillBytesMax and for a folder beyond its bounds, and the file system's
// own.
func ReadDir(fsys fs.FS, dir string) (Document, []string, []Warning, error) {
	if !fs.ValidPath(dir) {
		return Document{}, nil, nil, fmt.Errorf("skillfs: %w", &fs.PathError{Op: "open", Path: dir, Err: fs.ErrInvalid})
	}
	w := walker{fsys: fsys, root: dir}
	if err := w.walk("", 1); err != nil {
		return Document{}, nil, w.warnings, err
	}
	if err := w.findDocument(); err != nil {
		return Document{}, w.extras, w.warnings, err
	}
	raw, err := readCapped(fsys, path.Join(dir, FileName))
	if err != nil {
		return Document{}, w.extras, w.warnings, err
	}
	dirName := path.Base(dir)
	if dirName == "." {
		dirName = "" // the root of fsys has no name here
	}
	document, warnings, err := Parse(dirName, raw)
	return document, w.extras, append(w.warnings, warnings...), err
}

// walker lists one skill's folder.
type walker struct {
	fsys     fs.FS
	root     string
	dirs     int
	files    int
	top      []fs.DirEntry
	extras   []string
	warnings []Warning
}

func (w *walker) walk(dir string, depth int) error {
	if depth > folderDepthMax {
		return fmt.Errorf("%w: folder %q lies deeper than %d", ErrTooLarge, path.Join(w.root, dir), folderDepthMax)
	}
	if w.dirs++; w.dirs > folderDirsMax {
		return fmt.Errorf("%w: folder %q has more than %d folders", ErrTooLarge, w.root, folderDirsMax)
	}
	list, err := list(w.fsys, path.Join(w.root, dir))
	if err != nil {
		return err
	}
	if depth == 1 {
		w.top = list
	}
	for _, e := range list {
		if err := w.visit(path.Join(dir, e.Name()), e, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) visit(name string, e fs.DirEntry, depth int) error {
	switch {
	case slices.Contains(skipped, e.Name()) || name == FileName:
		return nil
	case !utf8.ValidString(name):
		w.warn(strings.ToValidUTF8(name, "?"), "has a name that is not UTF-8 and is left out")
	case e.Type()&fs.ModeSymlink != 0:
		w.warn(name, "is a symbolic link and is not followed")
	case e.IsDir():
		return w.walk(name, depth+1)
	case !e.Type().IsRegular():
		w.warn(name, "is neither a file nor a folder and is left out")
	default:
		if w.files++; w.files > folderFilesMax {
			return fmt.Errorf("%w: folder %q has more than %d files", ErrTooLarge, w.root, folderFilesMax)
		}
		w.extras = append(w.extras, name)
	}
	return nil
}

func (w *walker) warn(about, text string) {
	w.warnings = append(w.warnings, Warning{About: about, Text: text})
}

// findDocument checks the listed entry rather than opening the name: a file
// system that ignores case would open skill.md too, and the skill would then be
// lost on the next machine.
func (w *walker) findDocument() error {
	hint := ""
	for _, e := range w.top {
		switch {
		case e.Name() != FileName && strings.EqualFold(e.Name(), FileName):
			hint = fmt.Sprintf(", rename %s to %s", e.Name(), FileName)
		case e.Name() != FileName:
		case e.Type()&fs.ModeSymlink != 0:
			return fmt.Errorf("%w: in %q it is a symbolic link, which is not followed", ErrNoSkill, w.root)
		case !e.Type().IsRegular():
			return fmt.Errorf("%w: in %q it is no file", ErrNoSkill, w.root)
		default:
			return nil
		}
	}
	return fmt.Errorf("%w: in folder %q%s", ErrNoSkill, w.root, hint)
}

// list reads no more of a folder than the bounds allow, in lexical order.
func list(fsys fs.FS, dir string) ([]fs.DirEntry, error) {
	file, err := fsys.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("skillfs: open folder: %w", err)
	}
	defer func() { _ = file.Close() }() // nothing was written
	folder, ok := file.(fs.ReadDirFile)
	if !ok {
		return nil, fmt.Errorf("skillfs: %w", &fs.PathError{Op: "readdir", Path: dir, Err: errors.ErrUnsupported})
	}
	const entriesMax = folderDirsMax + folderFilesMax
	entries, err := folder.ReadDir(entriesMax + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("skillfs: read folder: %w", err)
	}
	if len(entries) > entriesMax {
		return nil, fmt.Errorf("%w: folder %q has more than %d entries", ErrTooLarge, dir, entriesMax)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// readCapped reads a SKILL.md. It counts what it reads and trusts no size that
// was told: the file may grow meanwhile.
func readCapped(fsys fs.FS, name string) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("skillfs: open: %w", err)
	}
	defer func() { _ = file.Close() }() // nothing was written
	raw, err := io.ReadAll(io.LimitReader(file, SkillBytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("skillfs: read %q: %w", name, err)
	}
	if len(raw) > SkillBytesMax {
		size := int64(len(raw))
		if info, err := file.Stat(); err == nil {
			size = max(size, info.Size()) // for the message alone
		}
		const kilobyte, megabyte = 1 << 10, 1 << 20
		return nil, fmt.Errorf("%w: %s of %s is %d KB; a skill may have %d MB: shorten it",
			ErrTooLarge, FileName, path.Base(path.Dir(name)), (size+kilobyte-1)/kilobyte, SkillBytesMax/megabyte)
	}
	return raw, nil
}
