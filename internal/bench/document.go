package main

// This file holds the document of a run: the measured figures, the bars that they should
// reach, and their text for a person.

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
)

// document is the result of a run.
type document struct {
	Machine machine  `json:"machine"`
	Rows    int      `json:"rows"`
	Runs    int      `json:"runs"`
	Threads int      `json:"threads"`
	Agree   bool     `json:"counts_agree"`
	Cases   []result `json:"cases"`
}

// machine describes where the command ran.
type machine struct {
	Processor string `json:"processor,omitempty"`
	CPUs      int    `json:"cpus"`
	Memory    int64  `json:"memory_bytes,omitempty"`
	System    string `json:"system"`
	Go        string `json:"go"`
	Python    string `json:"python,omitempty"`
	Commit    string `json:"commit,omitempty"`
	Load      string `json:"load,omitempty"` // of the last minute, before the run: what else the machine was doing
}

// thisMachine describes this machine as far as the system tells.
func thisMachine() machine {
	m := machine{
		CPUs: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Python: firstLine("python3", "--version"), Commit: firstLine("git", "describe", "--always", "--dirty"),
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.Processor = processorName(string(text))
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(text), " ")
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kib int64
		if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kib); err == nil {
			m.Memory = kib << 10
		}
	}
	return m
}

// processorName returns the name of the first processor in /proc/cpuinfo with its family and model, since several
// models share some names.
func processorName(cpuinfo string) string {
	fields := map[string]string{}
	for line := range strings.Lines(cpuinfo) {
		name, value, _ := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if _, seen := fields[name]; !seen {
			fields[name] = strings.TrimSpace(value)
		}
	}
	name := fields["model name"]
	if name != "" && fields["cpu family"] != "" {
		name += fmt.Sprintf(" (family %s, model %s)", fields["cpu family"], fields["model"])
	}
	return name
}

// result is a case that was run.
type result struct {
	Case      string    `json:"case"`
	Title     string    `json:"title"`
	Rows      int       `json:"rows"`
	FileBytes int64     `json:"file_bytes"`
	Tables    int       `json:"tables"`
	Cells     int64     `json:"cells"`
	Entries   []entry   `json:"entries"`
	Bars      []verdict `json:"bars"`
}

// entry is what one contender used, as medians. Its ratios are relative to this program.
type entry struct {
	Who      string             `json:"who"`
	Form     string             `json:"form,omitempty"`
	Words    string             `json:"words"`
	Version  string             `json:"version,omitempty"`
	Runs     int                `json:"runs"` // 0: not measured
	Wall     float64            `json:"wall_seconds,omitempty"`
	CPU      float64            `json:"cpu_seconds,omitempty"`
	Peak     int64              `json:"peak_bytes,omitempty"`
	Steps    map[string]float64 `json:"steps_seconds,omitempty"`
	Times    float64            `json:"times_wall,omitempty"`
	TimesCPU float64            `json:"times_cpu,omitempty"`
	Counted  int                `json:"tables_counted,omitempty"` // if they are not all, times are extrapolated
	Differ   []string           `json:"differ,omitempty"`         // tables whose counts differ from the reference
}

// verdict is the judgement on a bar: whether it is met, MISSED, or not measured.
type verdict struct {
	Bar     string `json:"bar"`
	Reached string `json:"reached,omitempty"`
	Verdict string `json:"verdict"`
}

// The verdicts on a bar.
const (
	met         = "met"
	missed      = "MISSED"
	notMeasured = "not measured"
	notJudged   = "not judged: too few rows"
)

// judgedFrom is how many rows a table must have for its times to be compared with bars: with fewer, costs that do not
// grow with the rows weigh too much.
const judgedFrom = 10_000_000

// setRatios sets the ratios of all entries to this program's, which is the first.
func (r *result) setRatios() {
	ours := r.Entries[0]
	for i := range r.Entries {
		e := &r.Entries[i]
		if e.Runs == 0 {
			continue
		}
		e.Times = e.Wall / ours.Wall
		if ours.CPU > 0 {
			e.TimesCPU = e.CPU / ours.CPU
		}
	}
}

// judgeBars compares the entries with bars.
func (r *result) judgeBars(bars []bar) {
	for _, b := range bars {
		r.Bars = append(r.Bars, b.verdictOn(*r))
	}
}

// verdictOn compares a case with a bar.
func (b bar) verdictOn(r result) verdict {
	kind := barKinds[b.kind]
	v := verdict{Bar: fmt.Sprintf(kind.words, b.at/kind.unit), Verdict: notMeasured}
	if value := kind.measured(r); value > 0 {
		v.Reached = fmt.Sprintf(kind.reached, value/kind.unit)
		v.Verdict = missed
		if value >= b.at && !kind.most || value <= b.at && kind.most {
			v.Verdict = met
		}
	}
	ofTime := b.kind == cpuAtMost || b.kind == timesFast || b.kind == wallAtMost
	if v.Verdict != notMeasured && r.Rows < judgedFrom && ofTime {
		v.Verdict = notJudged
	}
	return v
}

// bestEntry returns the entry of a contender with the least wall time, the zero entry if it was not measured.
func (r result) bestEntry(who string) entry {
	var best entry
	for _, e := range r.Entries {
		if e.Who == who && e.Runs > 0 && (best.Runs == 0 || e.Wall < best.Wall) {
			best = e
		}
	}
	return best
}

// write prints the document for a person.
func (d *document) write(to io.Writer) error {
	m := d.Machine
	fmt.Fprintf(to, "%s, %d processors, %.0f GiB, %s, %s, %s, commit %s, load before %s\n", m.Processor, m.CPUs,
		float64(m.Memory)/(1<<30), m.System, m.Go, m.Python, m.Commit, m.Load)
	fmt.Fprintf(to, "%d threads each, medians of %d runs in turn, files in the page cache\n", d.Threads, d.Runs)
	for _, r := range d.Cases {
		r.write(to)
	}
	counts := func(r result) bool { return r.Tables > 0 }
	if !slices.ContainsFunc(d.Cases, counts) {
		return nil
	}
	verdict := "All counts agree with the rows as they were made."
	if !d.Agree {
		verdict = "COUNTS DISAGREE with the rows as they were made."
	}
	_, err := fmt.Fprintf(to, "\n%s\n", verdict)
	return err
}

// write prints a case.
func (r result) write(to io.Writer) {
	fmt.Fprintf(to, "\n%s: %s; %s rows (%.0f MB)", r.Case, r.Title, budget.Group(int64(r.Rows)),
		float64(r.FileBytes)/megabyte)
	if r.Tables > 0 {
		fmt.Fprintf(to, ", %s cells", budget.Group(r.Cells))
	}
	fmt.Fprintln(to)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  \twall s\tCPU s\tpeak MB\t× wall\t× CPU\tsteps\tcounts")
	for _, e := range r.Entries {
		e.write(w, r.Tables)
	}
	w.Flush()
	for _, v := range r.Bars {
		if v.Reached != "" {
			v.Verdict += ", " + v.Reached
		}
		fmt.Fprintf(to, "  %s: %s\n", v.Bar, v.Verdict)
	}
}

// write prints what one contender used.
func (e entry) write(to io.Writer, tables int) {
	who := e.Who
	if e.Version != "" {
		who += " " + e.Version
	}
	who += ", " + e.Words
	if e.Runs == 0 {
		fmt.Fprintf(to, "  %s\tnot measured\n", who)
		return
	}
	var steps []string
	for _, step := range []string{"plan", "encode", "count"} {
		if seconds, ok := e.Steps[step]; ok {
			steps = append(steps, fmt.Sprintf("%s %.2f", step, seconds))
		}
	}
	counts := "agree"
	if tables == 0 {
		counts = "none"
	}
	if e.Counted < tables {
		counts = fmt.Sprintf("%d of %d agree, times estimated from these", e.Counted, tables)
	}
	if len(e.Differ) > 0 {
		counts = fmt.Sprintf("DIFFER in %d: %s", len(e.Differ), e.Differ[0])
	}
	if e.Runs == 1 {
		counts += ", run once"
	}
	fmt.Fprintf(to, "  %s\t%.3f\t%.2f\t%.0f\t%.1f\t%.1f\t%s\t%s\n", who, e.Wall, e.CPU, float64(e.Peak)/megabyte,
		e.Times,
		e.TimesCPU, strings.Join(steps, " + "), counts)
}
