import type { Change } from "../operation.ts";
import type { PackageScope, Subject } from "./scope.ts";

/** Returns what the audit log says about a package, under the name of its operation. */
export function packageChange(
	{ organizationId, from, until, withFiles }: PackageScope,
	{ audit, organization }: Subject,
): Change {
	return {
		...(audit
			? { kind: "audit", id: audit.id, name: audit.name }
			: { kind: "organization", id: organizationId, name: organization }),
		fields: {
			from: { after: from },
			until: { after: until },
			...(!withFiles && { left_out: { after: ["files"] } }),
		},
	};
}
