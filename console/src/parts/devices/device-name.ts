/** The facts from which the name of a device is made. */
export interface Named {
	id: string;
	/** Null for a device that has no name. */
	name: string | null | undefined;
	serial_number?: string | null | undefined;
	hardware_uuid?: string | null | undefined;
}

const UNNAMED = "Unnamed device";

/** Returns the end of an id, which tells it from other ids, such as "…x9f2Qa". */
export const endOfId = (id: string) => `…${id.slice(-6)}`;

/** Names a device. One without a name gets what tells it from others. */
export const nameOrUnnamed = (id: string, name: string | null | undefined) =>
	name || `${UNNAMED} (${endOfId(id)})`;

/**
 * Returns the names of devices that are shown together, by id. A name that is missing or that
 * several devices have is followed by the serial number, the hardware or the end of the id, whichever
 * is the first that tells these devices apart.
 */
export function namesApart(
	devices: readonly Named[],
): ReadonlyMap<string, string> {
	const each = [...new Map(devices.map((one) => [one.id, one])).values()];
	const byName = Map.groupBy(each, ({ name }) => name || UNNAMED);
	return new Map(
		[...byName].flatMap(([name, same]) => {
			const isClear = same.length === 1 && same[0]?.name;
			if (isClear) return same.map(({ id }) => [id, name] as const);
			const fact = factOf(same);
			return same.map((one) => [one.id, `${name} (${fact(one)})`] as const);
		}),
	);
}

/** Returns what to say of each device, so that no two of them look alike. */
function factOf(devices: readonly Named[]): (device: Named) => string {
	const tells = (field: "serial_number" | "hardware_uuid") => {
		const values = devices.map((one) => one[field]);
		return values.every(Boolean) && new Set(values).size === values.length;
	};
	if (tells("serial_number")) {
		return (one) => `serial number ${one.serial_number}`;
	}
	if (tells("hardware_uuid")) return (one) => `hardware ${one.hardware_uuid}`;
	return ({ id }) => endOfId(id);
}
