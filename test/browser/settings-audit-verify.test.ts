import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { aRisk } from "./home-page.ts";

let served: TestConsole;
let admin: TestUser;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
	await callByName(served.database, admin, "addRisk", {
		organization_id: served.organizationId,
		...aRisk(3, 5),
	});
});
afterAll(() => served.close());

const path = () => `/o/${served.organizationId}/settings/audit-log`;
/** Waits until all entries of the organization are sealed, because Verify counts the sealed ones. */
async function untilSealed(organizationId: string): Promise<void> {
	const unsealed = async () =>
		(
			await served.database.owner.query(
				`select id from audit_entries e where e.organization_id = $1 and not exists (
					select from audit_seals s where s.organization_id = e.organization_id and s.entry_id = e.id
				)`,
				[organizationId],
			)
		).rows;
	await expect.poll(unsealed).toEqual([]);
}

const rows = (page: Page) => page.getByRole("row").filter({ hasText: /\d{4}/ });

test("an administrator verifies the log and sees the entry that was changed in the database", async () => {
	const page = await served.openPageAs(admin, path());
	const verify = () =>
		page.getByRole("button", { name: "Verify", exact: true }).click();
	const dialog = page.getByRole("dialog", { name: "Verify the audit log" });
	await untilSealed(served.organizationId);
	await verify();
	await dialog.getByText("Audit log verified").waitFor();
	const { rows } = await served.database.owner.query<{
		count: number;
		newest: string;
	}>(
		`select count(*)::int, max(sequence) || ':' || encode((array_agg(hash order by sequence desc))[1], 'hex') as newest
		from audit_seals where organization_id = $1`,
		[served.organizationId],
	);
	await dialog
		.getByText(new RegExp(`^${rows[0]?.count} entries, from .* to .*`))
		.waitFor();
	await dialog
		.getByText(`${served.organizationId}:${rows[0]?.newest}`)
		.waitFor();
	await screenshot(page, "audit-verified");
	await axe(page);
	await dialog.getByRole("button", { name: "Close" }).click();

	const change = (name: string) =>
		served.database.owner.query(
			"update audit_entries set record_name = $2 where organization_id = $1 and operation = 'addRisk'",
			[served.organizationId, name],
		);
	await change("Fishing");
	await verify();
	await dialog.getByText(/entry \d+ was changed: its hash/).waitFor();
	await screenshot(page, "audit-tampered");
	await dialog.getByRole("button", { name: /^Show entry \d+$/ }).click();
	await page.getByRole("dialog", { name: /Add risk/ }).waitFor();
	await change("Risk 3 × 5");
});

test("the list says how many entries of imported records it leaves out, and the sum is what Verify counts", async () => {
	const organizationId = await createOrganization(
		served.database.pool,
		"Northwind",
	);
	const importer = await served.makePerson("admin", organizationId);
	const page = await served.openEmptyPageAs(importer);
	const imported = await page.request.post(
		`/api/console/importRecords?organization_id=${organizationId}&kind=vendor&dry_run=false`,
		{
			data: "name\nAcme\nBolt\nCargo\nDrum\nEaston\n",
			headers: { origin: served.service.url, "content-type": "text/csv" },
		},
	);
	expect(imported.status()).toBe(200);
	await page.goto(`/o/${organizationId}/settings/audit-log`);
	await page
		.getByText(
			/^This list leaves out 5 entries about single records of imports/,
		)
		.waitFor();
	await expect
		.poll(() => rows(page).filter({ hasText: "Import" }).count())
		.toBe(1);
	const listed = await rows(page).count();
	await screenshot(page, "audit-left-out");
	await axe(page);
	await untilSealed(organizationId);
	await page.getByRole("button", { name: "Verify", exact: true }).click();
	const dialog = page.getByRole("dialog", { name: "Verify the audit log" });
	await dialog.getByText("Audit log verified").waitFor();
	const verified = Number(
		/(\d+) entries, from/.exec(await dialog.innerText())?.[1],
	);
	expect(verified).toBe(listed + 5);
	await dialog
		.getByText(
			"the list has fewer entries, because it shows one for each import, and this number counts one for each record too.",
		)
		.waitFor();
	await dialog.getByRole("button", { name: "Close" }).click();
	await page.getByRole("button", { name: "Show them" }).click();
	await page.getByText("Cargo").waitFor();
	await expect.poll(() => rows(page).count()).toBe(5);
	expect(await page.getByText("This list leaves out").count()).toBe(0);
	await page
		.getByRole("button", {
			name: "Remove the filter: Records of all imports",
		})
		.click();
	await expect.poll(() => rows(page).count()).toBe(listed);
});

test("verifying continues where an error stopped it", async () => {
	const page = await served.openPageAs(admin, path());
	let calls = 0;
	const slice = {
		entries: 2000,
		redacted: 0,
		first_at: "2026-01-31T10:00:00Z",
		last_at: "2026-01-31T11:00:00Z",
		last: { sequence: 2000, hash: "ab".repeat(32) },
		newest_sequence: 3500,
		unsealed: 0,
		finding: null,
		is_complete: false,
	};
	await page.route("**/verifyAuditLog", async (route) => {
		calls++;
		if (calls === 1) return route.fulfill({ json: slice });
		if (calls === 2) {
			const json = { error: "forbidden", message: "not now" };
			return route.fulfill({ status: 403, json });
		}
		expect(route.request().postDataJSON().after).toEqual(slice.last);
		return route.fulfill({
			json: {
				...slice,
				entries: 1500,
				first_at: "2026-01-31T12:00:00Z",
				last_at: "2026-02-03T12:00:00Z",
				is_complete: true,
			},
		});
	});
	await page.getByRole("button", { name: "Verify", exact: true }).click();
	const dialog = page.getByRole("dialog", { name: "Verify the audit log" });
	await dialog.getByRole("button", { name: "Try again" }).click();
	await dialog
		.getByText(/^3,500 entries, from 31 Jan 2026.* to 3 Feb 2026/)
		.waitFor();
	expect(calls).toBe(3);
});
