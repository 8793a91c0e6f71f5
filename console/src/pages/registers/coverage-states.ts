import type { OutputOf } from "../../api.ts";
import type { Tone } from "../../parts/status-badge.tsx";

export type CoveredControl =
	OutputOf<"getFrameworkCoverage">["controls"][number];

/**
 * The states of a control's coverage, from best to worst. The last one is for controls that do not
 * count.
 */
export const STATES = {
	covered: {
		label: "Covered",
		tone: "good",
		means: "all measures that apply are implemented",
	},
	partly: {
		label: "Partly covered",
		tone: "active",
		means: "at least one measure is implemented, but not all that apply",
	},
	contradicted: {
		label: "Contradicted",
		tone: "bad",
		means: "a measure says implemented, but its device check does not show it",
	},
	started: {
		label: "Under way",
		tone: "active",
		means: "a measure is in progress, none is implemented",
	},
	planned: {
		label: "Planned only",
		tone: "neutral",
		means: "linked only to measures that are not started",
	},
	open: {
		label: "Nothing yet",
		tone: "warning",
		means: "not linked to any measure that applies",
	},
	excluded: {
		label: "Excluded",
		tone: "neutral",
		means: "does not apply and does not count",
	},
} as const satisfies Record<
	string,
	{ label: string; tone: Tone; means: string }
>;

export type CoverageState = keyof typeof STATES;

export function stateOf(control: CoveredControl): CoverageState {
	if (control.status === "EXCLUDED") return "excluded";
	if (control.is_covered) return "covered";
	if (control.is_partly_covered) return "partly";
	if (control.contradicted_measures > 0) return "contradicted";
	if (control.started_measures > 0) return "started";
	return control.planned_measures > 0 ? "planned" : "open";
}

export function countStates(
	controls: readonly CoveredControl[],
): Record<CoverageState, number> {
	const counts = {
		covered: 0,
		partly: 0,
		contradicted: 0,
		started: 0,
		planned: 0,
		open: 0,
		excluded: 0,
	};
	for (const control of controls) counts[stateOf(control)]++;
	return counts;
}

export interface Section {
	title: string;
	controls: CoveredControl[];
}

const byNumber = new Intl.Collator(undefined, { numeric: true });

/**
 * Returns the sections of a framework with their controls. Both are ordered by number, so that
 * A.5.2 comes before A.5.10.
 */
export function sectionsOf(controls: readonly CoveredControl[]): Section[] {
	const sections = new Map<string, CoveredControl[]>();
	for (const control of controls) {
		const title = chapterOf(control.section_title);
		const section = sections.get(title) ?? [];
		section.push(control);
		sections.set(title, section);
	}
	return [...sections]
		.map(([title, inside]) => ({
			title,
			controls: inside.sort(
				(a, b) =>
					byNumber.compare(a.section_title, b.section_title) ||
					byNumber.compare(a.name, b.name),
			),
		}))
		.sort((a, b) => byNumber.compare(a.title, b.title));
}

/**
 * Returns the chapter of a section title. Many frameworks number every control, so each section
 * would otherwise contain one control. For example, `A.5.1` and `A.5.2` belong to the chapter
 * `A.5`, and `CC6.1` belongs to `CC6`. A title in words, or `A.5` itself, is a chapter of its own.
 */
function chapterOf(sectionTitle: string): string {
	const [, chapter] =
		/^((?:[A-Z]{1,4}[.-]?)?\d+(?:\.\d+)*)\.\d+$/i.exec(sectionTitle.trim()) ??
		[];
	return chapter && /[A-Z]|\./i.test(chapter) ? chapter : sectionTitle.trim();
}
