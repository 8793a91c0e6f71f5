import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";

let served: TestConsole;
let ada: TestUser;
let measureId: string;
beforeAll(async () => {
	served = await startConsole();
	ada = await served.makePerson("admin");
	const { measure } = await use("addMeasure", {
		name: "Access review",
		category: "Access",
	});
	measureId = measure.id;
});
afterAll(() => served.close());

function use(name: string, input: object) {
	return callByName(served.database, ada, name, {
		organization_id: served.organizationId,
		...input,
	});
}

/** A picture of one red pixel. */
const PNG = Buffer.from(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
	"base64",
);

test("files are dropped on a measure, shown, downloaded and removed, and a wrong one says why", async () => {
	const path = `/o/${served.organizationId}/r/measure/${measureId}`;
	const page = await served.openPageAs(ada, path);
	const panel = page.getByRole("region", { name: "Evidence" });
	await panel.getByText("Nothing proves this yet.").waitFor();
	await panel.getByLabel("Valid until (optional)").fill("2020-03-31");
	await panel
		.getByLabel("Files")
		.setInputFiles({ name: "photo.png", mimeType: "image/png", buffer: PNG });
	await panel.getByRole("link", { name: "photo.png", exact: true }).waitFor();
	await panel.getByText("Expired 31 Mar 2020").waitFor();
	// The next files are other evidence.
	await expect
		.poll(() => panel.getByLabel("Valid until (optional)").inputValue())
		.toBe("");
	const dropped = await page.evaluateHandle(`(() => {
		const transfer = new DataTransfer();
		transfer.items.add(new File(["Reviewed on 3 March"], "Prüfung.txt"));
		transfer.items.add(new File(["<script>alert(1)</script>"], "page.html"));
		return transfer;
	})()`);
	const target = panel.getByText("Drop files here, or choose them.");
	// Only the month is filled in, so the browser reports the date as empty.
	await panel.getByLabel("Valid until (optional)").focus();
	await page.keyboard.type("12");
	await target.dispatchEvent("drop", { dataTransfer: dropped });
	await panel.getByText("Complete the date or clear it.").waitFor();
	expect(await panel.getByText("page.html").count()).toBe(0);
	await panel.getByLabel("Valid until (optional)").fill("2020-04-30");
	await panel
		.getByText("Complete the date or clear it.")
		.waitFor({ state: "detached" });
	await panel.getByLabel("Valid until (optional)").fill("");
	await panel.getByLabel("Valid until (optional)").focus();
	await page.keyboard.type("12");
	await panel.getByRole("button", { name: "Choose files" }).click();
	await panel.getByText("Complete the date or clear it.").waitFor();
	await panel.getByLabel("Valid until (optional)").fill("");
	await target.dispatchEvent("drop", { dataTransfer: dropped });
	await panel.getByRole("link", { name: "Prüfung.txt" }).first().waitFor();
	await panel
		.getByRole("alert")
		.getByText(/^The name must end in one of/)
		.waitFor();
	await axe(page);
	await panel.scrollIntoViewIfNeeded();
	await screenshot(page, "evidence/panel");
	await panel.getByRole("button", { name: "Dismiss page.html" }).click();

	const [saved] = await Promise.all([
		page.waitForEvent("download"),
		panel.getByRole("link", { name: "Download Prüfung.txt" }).click(),
	]);
	expect(saved.suggestedFilename()).toBe("Prüfung.txt");

	await panel.getByRole("button", { name: "Show photo.png" }).click();
	await expect
		.poll(() =>
			page.evaluate(
				`document.querySelector('img[alt="photo.png"]')?.naturalWidth`,
			),
		)
		.toBe(1);
	await page.getByRole("button", { name: "Close" }).click();

	await panel
		.getByRole("button", { name: "Remove photo.png from this record" })
		.click();
	await page.getByRole("button", { name: "Remove from this record" }).click();
	await panel.getByRole("heading", { name: "Evidence (1)" }).waitFor();
});

test("a link is evidence too, its page names its file, and a viewer adds nothing", async () => {
	const { control } = await use("addControl", {
		framework_id: (await use("addFramework", { name: "ISO 27001" })).framework
			.id,
		section_title: "A.5.18",
		name: "Access rights",
	});
	const path = `/o/${served.organizationId}/r/control`;
	const page = await served.openPageAs(ada, `${path}/${control.id}`);
	const panel = page.getByRole("region", { name: "Evidence" });
	await panel.getByRole("button", { name: "Add a link" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Address").fill("https://wiki.example.com/access");
	await dialog.getByLabel("What it shows").fill("Minutes of the review");
	await dialog.getByRole("button", { name: "Add the link" }).click();
	await panel
		.getByRole("link", { name: "Minutes of the review" })
		.first()
		.waitFor();
	const gap = await served.openPageAs(ada, `${path}?without_linked=evidence`);
	await gap.getByText("No controls match").waitFor();
	await axe(gap);

	const viewer = await served.makePerson("viewer");
	const other = await served.openPageAs(viewer, `${path}/${control.id}`, {
		viewport: { width: 390, height: 1400 },
		colorScheme: "dark",
	});
	const read = other.getByRole("region", { name: "Evidence" });
	await read
		.getByRole("link", { name: "Minutes of the review" })
		.first()
		.waitFor();
	expect(await read.getByRole("button").count()).toBe(0);
	await axe(other);
	await screenshot(other, "evidence/viewer-390-dark");
});

test("expired evidence that a newer one has replaced is archived from the record that it proves", async () => {
	const { measure } = await use("addMeasure", {
		name: "Access reviews",
		category: "People",
	});
	for (const [name, valid_until] of [
		["Review of the first quarter", "2024-03-31"],
		["Review of this quarter", "2999-12-31"],
	]) {
		await use("addEvidence", {
			name,
			valid_until,
			linked_record_ids: [measure.id],
		});
	}
	const page = await served.openPageAs(
		ada,
		`/o/${served.organizationId}/r/measure/${measure.id}`,
	);
	const panel = page.getByRole("region", { name: "Evidence" });
	await panel.getByText(/^Expired/).waitFor();
	await panel
		.getByRole("button", { name: "Archive Review of the first quarter" })
		.click();
	const dialog = page.getByRole("dialog");
	await axe(page);
	await dialog.getByRole("button", { name: "Archive the evidence" }).click();
	await panel.getByText("Archived (1)").click();
	const archived = panel.getByRole("list", { name: "Archived evidence" });
	await archived
		.getByRole("link", { name: "Review of the first quarter" })
		.waitFor();
	await panel.getByText("Evidence (1)").waitFor();
	expect(await panel.getByRole("button", { name: /^Archive / }).count()).toBe(
		0,
	);
	await axe(page);
	await screenshot(page, "evidence/archived");
});
