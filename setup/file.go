package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"
)

const (
	// newFile and newDir are the modes of what setup makes: an agent's
	// configuration may come to hold secrets.
	newFile = 0o600
	newDir  = 0o700
	// fileBytesMax bounds what is read: Claude Code keeps histories in its file.
	fileBytesMax = 256 << 20
	// linksMax is how many symbolic links are followed.
	linksMax = 40
)

var (
	errNoFile = errors.New("it is not a regular file")
	errTooBig = errors.New("it is too large to be a configuration")
	errNoText = errors.New("it is not UTF-8 text: convert it first, for example with iconv")
	errLinks  = errors.New("there are too many symbolic links")
)

// read returns what a file holds.
func read(path string) (content, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, nil
	}
	switch {
	case err != nil:
		return content{}, cause(err)
	case !info.Mode().IsRegular():
		return content{}, errNoFile
	case info.Size() > fileBytesMax:
		return content{}, errTooBig
	}
	text, err := os.ReadFile(path) //nolint:gosec // the file of the user's agent
	if err != nil {
		return content{}, cause(err)
	}
	if !utf8.Valid(text) {
		return content{}, errNoText
	}
	return present(text), nil
}

// cause is an error of the system without the path, which the caller says.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// target is where a path leads, the file behind the last symbolic link, which
// need not be there.
func target(path string) (string, error) {
	for range linksMax {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil //nolint:nilerr // it is no link: that is where it leads
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errLinks
}

// write makes a file that holds was hold c: as a whole or not at all, with the
// mode and the owner that it had, and behind a symbolic link if it is one. Errors:
// ErrChanged when it holds something else by the time that all else is done.
func write(path string, was, c content) error {
	path, err := target(path)
	if err != nil {
		return err
	}
	if !c.exists {
		if err := unchanged(path, was); err != nil {
			return err
		}
		return cause(os.Remove(path))
	}
	info, err := os.Stat(path)
	if err != nil {
		info = nil // it is new, or comparing it below says what is wrong
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, newDir); err != nil {
		return fmt.Errorf("make %s: %w", dir, cause(err))
	}
	return replace(path, info, was, c.text)
}

// unchanged returns ErrChanged unless a file holds just was.
func unchanged(path string, was content) error {
	now, err := read(path)
	if err == nil && !now.is(was) {
		err = ErrChanged
	}
	return err
}

// replace puts a new file in the place of one that info tells of, nil for none,
// and that holds was. The last comparison is right before the renaming: agents
// write their files at any time, and what they wrote must not be lost.
func replace(path string, info fs.FileInfo, was content, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".fleetd-*")
	if err != nil {
		return cause(err)
	}
	defer func() {
		if err != nil {
			err = cause(err)
			_ = os.Remove(f.Name()) // it is of no use
		}
	}()
	_, err = f.Write(text)
	if errLike := makeLike(f, info); err == nil {
		err = errLike
	}
	if errSync := f.Sync(); err == nil {
		err = errSync
	}
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = unchanged(path, was)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// makeLike gives a new file the owner and the mode of the one whose place it
// takes, nil for none. The owner comes first: the mode may let a group read, and
// that must not be another group.
func makeLike(f *os.File, info fs.FileInfo) error {
	if info == nil {
		return f.Chmod(newFile)
	}
	if err := keepOwner(f, info); err != nil {
		return fmt.Errorf("keep its owner: %w", cause(err))
	}
	return f.Chmod(info.Mode().Perm())
}
