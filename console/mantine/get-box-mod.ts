type Mods = Record<string, unknown>;

/** The attribute of each name that was asked for. Mantine finds it anew with a regular expression. */
const ATTRIBUTES = new Map<string, string>();

function attributeOf(name: string): string {
	const known = ATTRIBUTES.get(name);
	if (known) return known;
	const bare = name.startsWith("data-") ? name.slice(5) : name;
	const words = bare.replace(/([a-z])([A-Z])/g, "$1-$2").toLowerCase();
	ATTRIBUTES.set(name, `data-${words}`);
	return `data-${words}`;
}

function addMods(to: Mods, mod: unknown): Mods {
	if (!mod) return to;
	if (typeof mod === "string") {
		to[attributeOf(mod)] = true;
	} else if (Array.isArray(mod)) {
		for (const one of mod) addMods(to, one);
	} else {
		for (const [name, value] of Object.entries(mod as Mods)) {
			if (value === undefined || value === null) continue;
			if (value !== "" && value !== false) to[attributeOf(name)] = value;
		}
	}
	return to;
}

/** Returns the attributes of modifiers such as `{ withBorder: true }`, without empty ones. */
export const getMod = (mods: Mods): Mods => addMods({}, mods);

/** Returns the attributes of an element's modifiers: a name, an object, or a list of these. */
export const getBoxMod = (mod: unknown): Mods | null =>
	mod ? addMods({}, mod) : null;
