/** A measure that a new organization can begin with. */
export interface StarterMeasure {
	key: string;
	name: string;
	category: string;
	description: string;
}

/** A risk that a new organization can begin with. The scores are a first guess. */
export interface StarterRisk {
	key: string;
	name: string;
	category: string;
	description: string;
	/** Likelihood and impact before treatment, 1 to 5 each. */
	inherent: readonly [likelihood: number, impact: number];
	/** Keys of the measures that reduce the risk. */
	measures: readonly string[];
}

export interface StarterControl {
	/** Number in the standard, unique in its framework. */
	number: string;
	section: string;
	/** The requirement, in our own words. The texts of standards are often protected. */
	name: string;
	/** Keys of the measures that help to meet the control. */
	measures: readonly string[];
}

export interface StarterFramework {
	key: string;
	name: string;
	version: string | null;
	description: string;
	controls: readonly StarterControl[];
}

/** A control as the files of the frameworks write it: number, name, keys of measures. */
export type Row = readonly [number: string, name: string, measures?: string];

/** Returns the controls of a section. The keys of the measures are separated by spaces. */
export function section(
	title: string,
	rows: readonly Row[],
): readonly StarterControl[] {
	return rows.map(([number, name, measures = ""]) => ({
		number,
		section: title,
		name,
		measures: measures.split(" ").filter(Boolean),
	}));
}
