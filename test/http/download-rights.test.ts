import { beforeAll, expect, test } from "vitest";
import type { Session, TestConsole } from "../support/console-session.ts";
import {
	arrivesWhole,
	type LargeDownloads,
	makeLargeDownloads,
} from "../support/large-downloads.ts";

let served: TestConsole;
let admin: Session;
let begin: LargeDownloads["begin"];
let organization_id: string;
let evidence: string;
let snapshot: string;
beforeAll(async () => {
	({ served, admin, evidence, begin } = await makeLargeDownloads());
	({ organizationId: organization_id } = served);
	const taken = await admin.use("takeSnapshot", {
		organization_id,
		name: "Measures",
		type: "MEASURES",
	});
	snapshot = taken.snapshot.id;
});

const remove = (user_id: string) =>
	admin.use("removeMember", { organization_id, user_id });

const downloads = {
	"a CSV export": () =>
		`/api/console/export/listMeasures.csv?organization_id=${organization_id}`,
	"a file of evidence": () => `/api/console/files/${evidence}/download`,
	"a snapshot": () => `/api/console/files/${snapshot}/download`,
};

test.for(
	Object.entries(downloads),
)("%s breaks off when its reader is removed, and is whole otherwise", async ([
	,
	path,
]) => {
	const reader = await served.signIn("viewer");
	const response = await begin(path(), { cookie: reader.cookie });
	expect(response.statusCode).toBe(200);
	await remove(reader.user.id);
	expect(await arrivesWhole(response)).toBe(false);
	const other = await served.signIn("viewer");
	const whole = await begin(path(), { cookie: other.cookie });
	expect(await arrivesWhole(whole)).toBe(true);
});

test("a download breaks off when its session ends", async () => {
	const reader = await served.signIn("viewer");
	const response = await begin(downloads["a CSV export"](), {
		cookie: reader.cookie,
	});
	await served.database.owner.query("delete from sessions where user_id = $1", [
		reader.user.id,
	]);
	expect(await arrivesWhole(response)).toBe(false);
});

test("a download with an API token breaks off when the token is revoked", async () => {
	const reader = await served.signIn("viewer");
	const created = await reader.use("createApiToken", { name: "Reader" });
	for (const id of [evidence, snapshot]) {
		const response = await begin(`/api/files/${id}`, {
			authorization: `Bearer ${created.token}`,
		});
		expect(response.statusCode).toBe(200);
		if (id === snapshot) await remove(reader.user.id);
		expect(await arrivesWhole(response)).toBe(id === evidence);
	}
});
