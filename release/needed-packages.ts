/** What package-lock.json says about one folder of node_modules. */
interface LockedPackage {
	dependencies?: Record<string, string>;
	optionalDependencies?: Record<string, string>;
	peerDependencies?: Record<string, string>;
	peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

export type LockedPackages = Record<string, LockedPackage>;

/**
 * Returns the folders of node_modules that the program needs, by the `packages` of
 * package-lock.json. `npm ci --omit=dev` also installs development packages that are optional peers
 * of others, such as vite and react, which is 60 MB that nothing loads.
 */
export function neededPackages(packages: LockedPackages): Set<string> {
	const needed = new Set<string>();
	const waiting = [""];
	for (let from = waiting.pop(); from !== undefined; from = waiting.pop()) {
		for (const name of dependenciesOf(packages[from])) {
			const folder = resolve(name, from, packages);
			if (!folder || needed.has(folder)) continue;
			needed.add(folder);
			waiting.push(folder);
		}
	}
	return needed;
}

function dependenciesOf(one: LockedPackage | undefined): string[] {
	const peers = Object.keys(one?.peerDependencies ?? {}).filter(
		(name) => !one?.peerDependenciesMeta?.[name]?.optional,
	);
	return [
		...Object.keys(one?.dependencies ?? {}),
		...Object.keys(one?.optionalDependencies ?? {}),
		...peers,
	];
}

/** Looks for a package as Node does: in the own node_modules, then in those above. */
function resolve(
	name: string,
	from: string,
	packages: LockedPackages,
): string | undefined {
	for (let at = from; ; at = at.slice(0, at.lastIndexOf("node_modules/"))) {
		const base = at.endsWith("/") || at === "" ? at : `${at}/`;
		const folder = `${base}node_modules/${name}`;
		if (packages[folder]) return folder;
		if (at === "") return undefined;
	}
}
