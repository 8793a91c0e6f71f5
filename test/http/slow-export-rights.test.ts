import { expect, test } from "vitest";
import {
	arrivesWhole,
	makeLargeDownloads,
} from "../support/large-downloads.ts";

test("the export of an organization breaks off when the administrator is removed", async () => {
	const { served, admin, begin } = await makeLargeDownloads();
	const { organizationId: organization_id } = served;
	const reader = await served.signIn("admin");
	const { download_path } = await reader.use("exportOrganization", {
		organization_id,
	});
	const response = await begin(download_path, { cookie: reader.cookie });
	expect(response.statusCode).toBe(200);
	await admin.use("removeMember", {
		organization_id,
		user_id: reader.user.id,
	});
	// A download of 10 MB in parts of at most 64 KB takes 20 seconds, and it never pauses for as long as
	// a client that has gone.
	expect(await arrivesWhole(response, 125)).toBe(false);
});
