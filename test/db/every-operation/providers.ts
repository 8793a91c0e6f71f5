import { SamlProvider } from "../../support/saml-provider.ts";
import type { Walk } from "./callers.ts";

/** Uses domains, identity providers and provisioning by SCIM. */
export async function useProviders({
	running: { service, database },
	organization_id,
	admin: { use },
}: Walk): Promise<void> {
	const { url } = service;
	const { domain } = await use("addDomain", {
		organization_id,
		domain: "assay.invalid",
	});
	await use("listDomains", { organization_id });
	await use("verifyDomain", { organization_id, id: domain.id });
	await use("deleteDomain", { organization_id, id: domain.id });
	const { identity_provider } = await use("addIdentityProvider", {
		organization_id,
		kind: "OIDC",
		name: "Example",
		issuer: "https://login.assay.invalid",
		client_id: "assay",
		client_secret: "secret",
	});
	const idp = { organization_id, id: identity_provider.id };
	await use("readSamlMetadata", {
		organization_id,
		xml: new SamlProvider().metadata(),
	});
	await use("listIdentityProviders", { organization_id });
	await use("updateIdentityProvider", { ...idp, name: "Example Inc." });
	await use("deleteIdentityProvider", idp);
	const { secret, credential } = await use("createScimCredential", {
		organization_id,
		name: "Entra ID",
	});
	const scim = (method: string, path: string, body?: object) =>
		fetch(`${url}/scim/v2/${path}`, {
			method,
			headers: {
				authorization: `Bearer ${secret}`,
				"content-type": "application/scim+json",
			},
			...(body && { body: JSON.stringify(body) }),
		}).then((answer) => answer.text());
	await database.owner.query(
		`insert into organization_domains (organization_id, id, domain, challenge, verified_by, verified_at)
		values ($1, $1, 'scim.example', repeat('x', 32), 'OPERATOR', now())`,
		[organization_id],
	);
	const provisioned = JSON.parse(
		await scim("POST", "Users", { userName: "ada@scim.example" }),
	);
	const group = JSON.parse(
		await scim("POST", "Groups", {
			displayName: "Staff",
			members: [{ value: provisioned.id }],
		}),
	);
	await use("updateScimGroup", {
		organization_id,
		id: group.id,
		role: "member",
	});
	await use("updateProvisioning", { organization_id, default_role: "member" });
	await scim("GET", `Users?filter=${encodeURIComponent('userName eq "x"')}`);
	await scim("GET", "Groups");
	await scim("PATCH", `Groups/${group.id}`, {
		schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
		Operations: [{ op: "replace", value: { displayName: "Everybody" } }],
	});
	for (const active of [false, true]) {
		await scim("PUT", `Users/${provisioned.id}`, {
			userName: "ada@scim.example",
			active,
		});
	}
	await scim("DELETE", `Groups/${group.id}`);
	await scim("DELETE", `Users/${provisioned.id}`);
	await use("getProvisioning", { organization_id });
	await use("revokeScimCredential", { organization_id, id: credential.id });
}
