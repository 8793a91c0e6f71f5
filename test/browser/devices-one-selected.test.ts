import { afterAll, beforeAll, expect, test } from "vitest";
import { addEnrollmentKey } from "../../src/devices/enrollment-key-operations.ts";
import { callByName } from "../support/call-by-name.ts";
import { callAs } from "../support/people.ts";
import { heartbeatBody } from "../support/service.ts";
import { axe, startConsole, type TestConsole, visit } from "./browser.ts";
import { fleetOf, must } from "./fleet.ts";
import { pressEscape, settled } from "./settled.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("the dialogs and messages about one selected device speak of one", async () => {
	const fleet = fleetOf(served);
	let requires = false;
	let token = "";
	const { page, at } = await fleet.start("admin", async (made) => {
		const admin = await served.makePerson("admin", made);
		await callByName(served.database, admin, "addPeople", {
			organization_id: made,
			full_name: "Grace Hopper",
			primary_email_address: "grace@example.com",
			kind: "EMPLOYEE",
		});
		const old = await fleet.addReporting(made, "studio", {});
		for (const name of ["Intune", "Visitors"]) {
			requires = name === "Visitors";
			({ enrollment_key: token } = await callAs(
				served.database,
				admin,
				addEnrollmentKey,
				{
					organization_id: made,
					name,
					max_devices: 3,
					requires_approval: requires,
				},
			));
			const enrolled = await must(
				served.post("enroll", { token, owner_email: "grace@example.com" }),
				200,
			);
			const { api_key: key } = JSON.parse(enrolled);
			const hardware_uuid = requires ? "visitor" : old.hardwareUuid;
			const facts = heartbeatBody({ hardware_uuid, hostname: name });
			await must(served.post("heartbeat", facts, { key }), 400);
		}
		return "/devices?conflict=DUPLICATE_HARDWARE";
	});
	const dialog = page.getByRole("dialog");
	const select = async (path: string) => {
		await visit(page, at(path));
		// The list may still show the rows of the page before.
		await settled(page);
		await page.getByLabel("Select all on this page").check();
	};
	/** Opens the dialog of an action and expects its heading, its sentence and its button. */
	const ask = async (
		button: string,
		heading: string,
		sentence: string,
		confirm = button,
	) => {
		await page
			.getByRole("button", { name: `${button} …`, exact: true })
			.click();
		await page.getByRole("dialog", { name: heading, exact: true }).waitFor();
		await dialog.getByText(sentence).waitFor();
		return dialog.getByRole("button", { name: confirm, exact: true });
	};
	const cancel = async () => {
		await dialog.getByRole("button", { name: "Cancel" }).click();
		await dialog.waitFor({ state: "hidden" });
	};

	await select("/devices?conflict=DUPLICATE_HARDWARE");
	const replace = await ask(
		"Same device, set up again",
		"Replace the earlier record of 1 device?",
		"The earlier record of the machine is revoked",
	);
	expect(await dialog.getByText("wait for approval").count()).toBe(0);
	await replace.click();
	await page.getByText("1 device replaced.").waitFor();

	await select("/devices?awaits_approval=true");
	await ask("Reject", "Reject 1 device?", "It is revoked: its key stops");
	await cancel();
	await ask(
		"Confirm the claimed owner",
		"Confirm the claimed owner of 1 device?",
		"becomes the owner of the device.",
	);
	await cancel();
	const approve = await ask(
		"Approve",
		"Approve 1 device?",
		"It becomes active with its next heartbeat, and its reports count.",
	);
	await approve.click();
	await page.getByText("1 device approved.").waitFor();

	await select("/devices?has_claimed_owner=true&status=PENDING&q=visitor");
	const tokens = await ask(
		"Reissue tokens",
		"Reissue the enrollment token of 1 device?",
		"An active device keeps reporting with its current key",
		"Reissue the token",
	);
	await axe(page);
	await tokens.click();
	await page.getByRole("dialog", { name: "Enroll 1 device" }).waitFor();
	await dialog.getByText("On the device, with its token in a file").waitFor();
	await pressEscape(dialog);
	await dialog.getByText("The token is lost when you close").waitFor();
	await axe(page);
	await dialog.getByRole("button", { name: "Close without the token" }).click();
	await dialog.waitFor({ state: "hidden" });

	await select("/devices?status=PENDING&q=visitor");
	const owner = await ask(
		"Set the owner",
		"Set the owner of 1 device",
		"The person who uses it.",
	);
	const remove = dialog.getByLabel("Remove the owner of the selected device");
	await remove.check();
	await dialog
		.getByRole("button", { name: "Remove the owner", exact: true })
		.waitFor();
	await remove.uncheck();
	await dialog.getByRole("combobox", { name: "Owner" }).click();
	await page.getByRole("option", { name: /^Grace Hopper/ }).click();
	await owner.click();
	await page.getByText("1 owner set.").waitFor();

	await ask(
		"Send the owner a link",
		"Send the owner of 1 device a link?",
		"The owner gets one mail.",
	);
	await cancel();
	const revoke = await ask(
		"Revoke",
		"Revoke 1 device?",
		"Its key and its open enrollment token stop working",
	);
	await revoke.click();
	await page.getByText("1 device revoked.").waitFor();
});
