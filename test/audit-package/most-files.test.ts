import { expect, test } from "vitest";
import { shareConsole } from "../support/console-session.ts";

const YEAR = new Date().getUTCFullYear();

test("a package with too many files is refused before it begins", async () => {
	const served = await shareConsole();
	const { organizationId: organization_id, database } = served;
	const { call, cookie } = await served.signIn("admin");
	const { url } = served.service;
	const query = new URLSearchParams({ organization_id, file_name: "a.txt" });
	const answer = await fetch(`${url}/api/console/files?${query}`, {
		method: "POST",
		headers: {
			cookie,
			origin: url,
			"content-type": "application/octet-stream",
		},
		body: "a",
	});
	expect(answer.status).toBe(201);
	const { evidence } = (await answer.json()) as { evidence: { id: string } };
	await database.owner.query(
		`with n as (select left($2, 20) || lpad(n::text, 12, '0') as id from generate_series(1, 20000) n),
		e as (
			insert into evidence (organization_id, id, name) select $1, id, 'E' from n returning id
		)
		insert into evidence_files
			(organization_id, evidence_id, sha256, file_name, content_type, uploaded_by_name)
		select $1, e.id, f.sha256, f.file_name, f.content_type, f.uploaded_by_name
		from e, evidence_files f where f.organization_id = $1 and f.evidence_id = $2`,
		[organization_id, evidence.id],
	);
	const asked = {
		organization_id,
		from: `${YEAR}-01-01`,
		until: `${YEAR}-12-31`,
	};
	const { status, body } = await call("exportAuditPackage", asked);
	expect(status).toBe(400);
	expect(body.message).toContain("20001 documents and files of evidence");
	const less = { ...asked, with_files: false };
	expect((await call("exportAuditPackage", less)).status).toBe(200);
});
