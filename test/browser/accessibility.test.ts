import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, screenshot, visit } from "./browser.ts";
import { fleetOf } from "./fleet.ts";
import { type SampleRegisters, startWithRisks } from "./sample-registers.ts";

let registers: SampleRegisters;
beforeAll(async () => {
	registers = await startWithRisks();
});
afterAll(() => registers.close());

const WIDTHS = [1440, 390];
const SCHEMES = ["light", "dark"] as const;

/** Adds what the pages show. Returns the paths of the device and of the document. */
async function addContent() {
	const { add, use, organizationId } = registers;
	const fleet = fleetOf(registers);
	const device = await fleet.addReporting(organizationId, "ada.local", {
		DISK_ENCRYPTION: "FAIL",
		FIREWALL_ENABLED: "PASS",
		PASSWORD_POLICY: "UNKNOWN",
		MALWARE_PROTECTION: "NOT_APPLICABLE",
	});
	await add("addTask", {
		name: "Restore a backup",
		deadline: "2026-01-31",
		assigned_to_id: registers.ids.ada,
	});
	await add("addNonconformity", { title: "Backups were never restored" });
	const { document } = await add("addDocument", {
		title: "Access policy",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version: version } = await use(
		"createDraftDocumentVersion",
		{
			document_id: document.id,
			content: "# Access\n\n- [x] A key for **each** person\n\n> No exceptions",
		},
	);
	await use("publishDocumentVersion", { id: version.id });
	await use("requestDocumentVersionSignature", {
		document_version_id: version.id,
		person_ids: [registers.ids.ada],
	});
	await registers.makeToken(organizationId);
	return {
		device: `devices/${device.id}?check=DISK_ENCRYPTION`,
		document: `r/document/${document.id}`,
	};
}

/**
 * The test opens each page once, and then changes its colors and its width. Dark colors can break
 * only the contrast, so axe-core checks nothing else in them.
 */
test("axe finds nothing on the most important pages, in light and dark, wide and on a phone", async () => {
	const paths = await addContent();
	const { admin, organizationId } = registers;
	const page = await registers.openPageAs(admin, `/o/${organizationId}`);
	const main = page.getByRole("main");
	const table = main.getByRole("table").first();
	const heading = (name: string) => main.getByRole("heading", { name });
	const pages: Record<string, [path: string, shown: Locator]> = {
		home: ["", heading("Fleet posture")],
		devices: ["devices", table],
		device: [paths.device, main.getByText("root, home").first()],
		risks: ["r/risk", table],
		tasks: ["r/task", table],
		nonconformities: ["r/nonconformity", table],
		risk: [`r/risk/${registers.ids.grown}`, main.getByText("Please check")],
		document: [paths.document, main.getByText("Ada Lovelace").first()],
		members: ["settings/members", table],
		tokens: ["settings/api-tokens", heading("No API tokens yet")],
		policy: ["settings/device-policy", main.getByLabel("Shortest password")],
		log: ["settings/audit-log", table],
	};
	for (const [name, [path, shown]] of Object.entries(pages)) {
		await page.setViewportSize({ width: 1440, height: 900 });
		await visit(page, `/o/${organizationId}/${path}`);
		await shown.waitFor();
		for (const width of WIDTHS) {
			await page.setViewportSize({ width, height: 900 });
			await expect
				.poll(() => page.evaluate("document.documentElement.scrollWidth"), {
					message: `${name} at ${width} px`,
				})
				.toBeLessThanOrEqual(width);
			for (const colorScheme of SCHEMES) {
				await showColors(page, colorScheme);
				await screenshot(page, `pages/${name}-${width}-${colorScheme}`);
				await axe(page, colorScheme === "light" ? "everything" : "contrast");
			}
		}
	}
});

test("the border of a checkbox has a contrast of 3 : 1, in light and dark", async () => {
	const page = await registers.open(registers.admin, "risk");
	const checkbox = page.getByRole("checkbox", { name: /^Select A/ }).last();
	await checkbox.waitFor();
	for (const colorScheme of SCHEMES) {
		await page.emulateMedia({ colorScheme });
		await expect.poll(() => borderContrast(checkbox)).toBeGreaterThan(3);
	}
});

test("a list uses the width of a large screen, and text does not", async () => {
	const page = await registers.open(registers.admin, "risk", {
		viewport: { width: 1920, height: 1000 },
	});
	const widthOf = async (page: Page) =>
		(await page.locator("#content > div").first().boundingBox())?.width ?? 0;
	await page.getByRole("table").waitFor();
	expect(await widthOf(page)).toBeGreaterThan(1500);
	await visit(page, registers.at(`risk/${registers.ids.theft}`));
	await page.getByText("Seen twice").waitFor();
	expect(await widthOf(page)).toBeLessThan(1400);
});

/** Changes the colors, and waits until none is still fading into its new one. */
async function showColors(page: Page, colorScheme: "light" | "dark") {
	await page.emulateMedia({ colorScheme });
	await page
		.locator(`html[data-mantine-color-scheme=${colorScheme}]`)
		.waitFor({ state: "attached" });
	await page.evaluate(
		`Promise.allSettled(document.getAnimations()
			.filter((each) => each instanceof CSSTransition)
			.map((each) => each.finished)).then(() => undefined)`,
	);
}

/** Returns the contrast of an element's border with its background, as WCAG defines it. */
function borderContrast(element: Locator): Promise<number> {
	return element.evaluate((node) => {
		const luminance = (color: string) => {
			const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? [])
				.slice(0, 3)
				.map((part) => Number(part) / 255)
				.map((part) =>
					part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
				);
			return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
		};
		const { borderTopColor, backgroundColor } = (
			globalThis as unknown as {
				getComputedStyle: (node: unknown) => {
					borderTopColor: string;
					backgroundColor: string;
				};
			}
		).getComputedStyle(node);
		const [dark = 0, light = 0] = [borderTopColor, backgroundColor]
			.map(luminance)
			.sort((a, b) => a - b);
		return (light + 0.05) / (dark + 0.05);
	});
}
