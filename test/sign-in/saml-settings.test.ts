import { afterAll, expect, test } from "vitest";
import { makeKey } from "../support/certificate.ts";
import { somebody, startSamlStand } from "./saml-stand.ts";

const { call, id, provider, readMetadata, served, signIn } =
	await startSamlStand();
afterAll(() => served.close());

test("metadata with several certificates is read, and rotation needs no test", async () => {
	const next = makeKey();
	const xml = provider.metadata([provider.key, next]);
	const { body } = await readMetadata(xml.replace("?>", "?><!-- IdP -->"));
	expect(body).toMatchObject({
		issuer: provider.entityId,
		sign_in_url: provider.signInUrl,
	});
	const { certificates } = body;
	expect(certificates).toHaveLength(2);
	await call("updateIdentityProvider", { id, certificates });
	const { page } = await signIn(somebody(), { changes: { key: next } });
	expect(page).toBe("/");
	await call("updateIdentityProvider", {
		id,
		certificates: [provider.key.certificate],
	});
	const late = await signIn(somebody(), { changes: { key: next } });
	expect(late.why).toBe("OTHER_KEY");
});

test.each([
	["no XML", "metadata"],
	["a document type", "<!DOCTYPE x><x/>"],
	["an open comment", "<x><!-- </x>"],
	["those of something else", "<EntityDescriptor/>"],
])("metadata that are %s are refused", async (_, xml) => {
	const { status, body } = await readMetadata(xml);
	expect([status, body.fields[0].field]).toEqual([400, "xml"]);
});

test("only administrators read metadata", async () => {
	const { session } = await signIn(somebody());
	const { status } = await readMetadata(provider.metadata(), session);
	expect(status).toBe(403);
});

test("weak keys, and fields of the other kind, are refused", async () => {
	const settings = {
		kind: "SAML",
		name: "x",
		issuer: "x",
		sign_in_url: provider.signInUrl,
		certificates: [provider.key.certificate],
	};
	const fieldsOf = async (changes: object) =>
		(
			await call("addIdentityProvider", { ...settings, ...changes })
		).body.fields.map((one: { field: string }) => one.field);
	const weak = makeKey({ bits: 1024 }).certificate;
	expect(await fieldsOf({ certificates: [weak] })).toEqual(["certificates[0]"]);
	expect(await fieldsOf({ client_id: "x" })).toEqual(["client_id"]);
	expect(await fieldsOf({ trusts_addresses: true })).toEqual([
		"trusts_addresses",
	]);
	expect(await fieldsOf({ sign_in_url: "http://x.example.com" })).toEqual([
		"sign_in_url",
	]);
	expect(await fieldsOf({ certificates: undefined })).toEqual(["certificates"]);
});
