import type { Context } from "../../operation.ts";
import { PLATFORM_NAMES } from "../terms.ts";
import type { DeviceException } from "./exception-record.ts";

const FIELDS = [
	"check_key",
	"scope",
	"device_id",
	"group_id",
	"platform",
	"reason",
	"status",
	"starts_at",
	"ends_at",
	"decision_note",
] as const satisfies (keyof DeviceException)[];

/**
 * Notes the changes of an exception for the audit log. Adds the fields of `more` if something has
 * changed.
 */
export function noteException(
	{ changed }: Pick<Context, "changed">,
	before: DeviceException | undefined,
	after: DeviceException | undefined,
	more: Record<string, { after: unknown }> = {},
): void {
	const known = after ?? before;
	if (!known) return;
	const fields: Record<string, { before?: unknown; after?: unknown }> = {};
	for (const field of FIELDS) {
		const [was, is] = [before?.[field] ?? null, after?.[field] ?? null];
		if (was === is) continue;
		fields[field] = {
			...(before && { before: was }),
			...(after && { after: is }),
		};
	}
	if (Object.keys(fields).length === 0) return;
	changed({
		kind: "device_exception",
		id: known.id,
		name: `${known.check_name ?? known.check_key}, ${coveredBy(known)}`,
		fields: { ...fields, ...more },
	});
}

/** Returns the devices that an exception covers, in words. */
function coveredBy({
	scope,
	device_name,
	group_name,
	platform,
}: DeviceException): string {
	if (scope === "DEVICE") return device_name ?? "an unnamed device";
	if (scope === "GROUP") {
		return group_name ? `group ${group_name}` : "a deleted group";
	}
	return platform === null
		? "all devices"
		: `all ${PLATFORM_NAMES[platform]} devices`;
}
