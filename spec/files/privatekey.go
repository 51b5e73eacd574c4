package files

import (
	"regexp"
	"strings"
)

// This file detects private keys, which no public file may contain.

// privateKey matches the beginning of a private key's text: in PEM of all kinds (PKCS #1, PKCS #8, SEC 1, OpenSSH,
// OpenPGP, SSH2), in PKCS #8 of Ed25519 and in OpenSSH without the PEM frame, and in the formats of age, PuTTY and
// minisign. Every match contains one of privateKeyMarks.
var (
	privateKey = regexp.MustCompile(
		`-----? ?BEGIN [A-Z0-9 ]*PRIVATE KEY|MC4CAQAwBQYDK2VwBCIE|b3BlbnNzaC1rZXktdjE|AGE-SECRET-KEY-1|` +
			`PuTTY-User-Key-File-[0-9]|untrusted comment: [^\n]{0,200}secret key`)
	privateKeyMarks = []string{"PRIVATE KEY", "MC4CAQAwBQYDK2VwBCIE", "b3BlbnNzaC1rZXktdjE", "AGE-SECRET-KEY-1",
		"PuTTY-User-Key-File-", "secret key"}
)

// checkKeys refuses a text that contains a private key.
func checkKeys(text string) error {
	for _, mark := range privateKeyMarks { // searching for fixed texts is fast in large files
		if strings.Contains(text, mark) && privateKey.MatchString(text) {
			return &unfitError{"holds a private key",
				"a public file: all that it holds is published with the plan; keep keys out of the folders of specs"}
		}
	}
	return nil
}

// checkKeys refuses a table that contains a private key.
func (u *Unpacked) checkKeys() error {
	if err := checkKeys(u.Text); err != nil {
		return err
	}
	for _, f := range u.Fields {
		if err := checkKeys(f.Name); err != nil {
			return err
		}
	}
	for _, row := range u.Rows {
		for _, cell := range row {
			if err := checkKeys(cell); err != nil {
				return err
			}
		}
	}
	return nil
}
