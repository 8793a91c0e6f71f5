const PREFIX = "ASSAY_";
const MAX_SUGGESTIONS = 2;

/**
 * Returns "did you mean …? " with the one or two settings that resemble the name most, or an empty
 * text if none does.
 */
export function suggestSettings(
	name: string,
	known: readonly string[],
): string {
	const bare = withoutPrefix(name.toUpperCase());
	const most = Math.floor(bare.length / 2);
	const near = known
		.map((setting) => ({
			setting,
			distance: distanceOf(bare, withoutPrefix(setting)),
		}))
		.filter(({ distance }) => distance <= most)
		.sort((a, b) => a.distance - b.distance);
	const nearest = near
		.filter(({ distance }) => distance === near[0]?.distance)
		.slice(0, MAX_SUGGESTIONS)
		.map(({ setting }) => setting);
	return nearest.length > 0 ? `did you mean ${nearest.join(" or ")}? ` : "";
}

function withoutPrefix(name: string): string {
	return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

/** Number of letters to add, remove or replace, or neighbors to exchange, to make `b` from `a`. */
function distanceOf(a: string, b: string): number {
	let beforeLast: number[] = [];
	let last = Array.from({ length: b.length + 1 }, (_, at) => at);
	for (let i = 1; i <= a.length; i++) {
		const row = [i];
		for (let j = 1; j <= b.length; j++) {
			const cost = a[i - 1] === b[j - 1] ? 0 : 1;
			let least = Math.min(
				(last[j] ?? 0) + 1,
				(row[j - 1] ?? 0) + 1,
				(last[j - 1] ?? 0) + cost,
			);
			if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
				least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
			}
			row.push(least);
		}
		beforeLast = last;
		last = row;
	}
	return last[b.length] ?? a.length;
}
