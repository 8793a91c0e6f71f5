import { expect, test } from "vitest";
import { shareTools } from "../support/tools.ts";

test("more records than one call hands over: nothing changes", async () => {
	const tools = await shareTools();
	const addPerson = async (full_name: string): Promise<string> =>
		(
			await tools.use("addPeople", {
				full_name,
				primary_email_address: `${full_name}@example.com`,
				kind: "EMPLOYEE",
			})
		).people.id;
	const from = await addPerson("Ada");
	const to = await addPerson("Grace");
	await tools.database.owner.query(
		`insert into measures (organization_id, id, name, category, owner_id)
		select $1, lpad(n::text, 32, 'm'), 'many', 'IT', $2 from generate_series(1, 5001) n`,
		[tools.organizationId, from],
	);
	const { status, body } = await tools.call("reassignRecords", { from, to });
	expect(status).toBe(400);
	expect(body.message).toContain(
		"from: this person has more than 5000 records",
	);
	await tools.database.owner.query(
		"delete from measures where owner_id = $1 and id = lpad('7', 32, 'm')",
		[from],
	);
	expect((await tools.use("reassignRecords", { from, to })).total).toBe(5000);
	await tools.database.owner.query("delete from measures where owner_id = $1", [
		to,
	]);
});
