type Names = Record<string, string>;

interface Given {
	theme: unknown;
	classNames: unknown;
	props: unknown;
	stylesCtx: unknown;
}

const NONE: Names = {};

/**
 * Merges the class names that a component was given for its parts. Most components are given none,
 * and Mantine asks four times for each.
 */
export function resolveClassNames({
	theme,
	classNames,
	props,
	stylesCtx,
}: Given): Names {
	if (!classNames) return NONE;
	const all: Names = {};
	for (const given of Array.isArray(classNames) ? classNames : [classNames]) {
		const names: Names =
			typeof given === "function" ? given(theme, props, stylesCtx) : given;
		for (const [part, name] of Object.entries(names || NONE)) {
			all[part] = all[part]
				? [all[part], name].filter(Boolean).join(" ")
				: name;
		}
	}
	return all;
}
