type Props = Record<string, unknown>;

/** Returns the properties that are not undefined. */
export function filterProps(props: Props): Props {
	const found: Props = {};
	for (const name of Object.keys(props)) {
		if (props[name] !== undefined) found[name] = props[name];
	}
	return found;
}
