import {
	Button,
	Group,
	Select,
	Stack,
	Switch,
	Text,
	Textarea,
	TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { call } from "../../api.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { SecretInput } from "../../parts/secret-input.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";
import { groupRolesIn, groupRolesText } from "./group-roles.ts";
import type { IdentityProvider } from "./identity-providers-card.tsx";
import { MetadataImport } from "./metadata-import.tsx";
import {
	certificatesIn,
	certificatesText,
	SamlFields,
} from "./saml-fields.tsx";

const INVITED = "invited";

function roleIn(value: string): IdentityProvider["role"] {
	return value === "viewer" || value === "member" ? value : null;
}

/** Adds or changes an identity provider. */
export function IdentityProviderDialog({
	organizationId,
	provider,
	onClose,
	onAdded,
}: {
	organizationId: string;
	/** Undefined for a new provider. */
	provider?: IdentityProvider | undefined;
	onClose: () => void;
	onAdded: (id: string) => void;
}) {
	useReturnFocus();
	const form = useForm({
		initialValues: {
			kind: provider?.kind ?? ("OIDC" as IdentityProvider["kind"]),
			name: provider?.name ?? "",
			issuer: provider?.issuer ?? "",
			client_id: provider?.client_id ?? "",
			client_secret: "",
			sign_in_url: provider?.sign_in_url ?? "",
			sign_out_url: provider?.sign_out_url ?? "",
			certificates: certificatesText(
				(provider?.certificates ?? []).map(({ pem }) => pem),
			),
			role: provider?.role ?? (provider ? INVITED : "viewer"),
			group_roles: groupRolesText(provider?.group_roles ?? []),
			groups_claim: provider?.groups_claim ?? "groups",
			trusts_addresses: provider?.trusts_addresses ?? false,
		},
		validate: {
			group_roles: (text) =>
				groupRolesIn(text) === undefined
					? "Write one group a line, such as Security team = admin. Roles are viewer, member and admin."
					: null,
		},
	});
	const isSaml = form.values.kind === "SAML";
	const saving = useSaving(
		form,
		async ({ issuer, client_secret, role, ...values }) => {
			const given = {
				organization_id: organizationId,
				name: values.name.trim(),
				role: roleIn(role),
				group_roles: groupRolesIn(values.group_roles) ?? [],
				groups_claim: values.groups_claim.trim(),
			};
			const secret = client_secret.trim();
			const ofSaml = isSaml && {
				sign_in_url: values.sign_in_url.trim(),
				sign_out_url: values.sign_out_url.trim() || null,
				certificates: certificatesIn(values.certificates),
			};
			const ofOidc = !isSaml && {
				client_id: values.client_id.trim(),
				...((secret || !provider) && { client_secret: secret }),
				trusts_addresses: values.trusts_addresses,
			};
			if (!provider) {
				const added = await call("addIdentityProvider", {
					...given,
					...ofSaml,
					...ofOidc,
					kind: values.kind,
					issuer: issuer.trim(),
				});
				return added.identity_provider.id;
			}
			const isOtherClient = ofOidc && ofOidc.client_id !== provider.client_id;
			await call("updateIdentityProvider", {
				...given,
				...ofSaml,
				...ofOidc,
				id: provider.id,
				...(isOtherClient && { is_enabled: false }),
			});
			return null;
		},
		async (addedId) => {
			await forgetReadings();
			if (addedId) onAdded(addedId);
			onClose();
		},
	);
	return (
		<Dialog
			opened
			onClose={onClose}
			size="lg"
			title={
				provider ? "Change the identity provider" : "Add an identity provider"
			}
		>
			<form noValidate onSubmit={saving.submit}>
				<Stack>
					{saving.refusal && (
						<ErrorState error={saving.refusal} title="Not saved" />
					)}
					<TextInput
						label={FIELD_LABELS.identity_provider.name}
						description="Your people see it, for example Example Inc."
						withAsterisk
						data-autofocus
						{...form.getInputProps("name")}
					/>
					{!provider && (
						<Select
							label={FIELD_LABELS.identity_provider.kind}
							description="Choose OpenID Connect if the provider has both."
							allowDeselect={false}
							data={[
								{ value: "OIDC", label: "OpenID Connect" },
								{ value: "SAML", label: "SAML 2.0" },
							]}
							{...form.getInputProps("kind")}
						/>
					)}
					{isSaml && (
						<MetadataImport
							organizationId={organizationId}
							isNew={!provider}
							onRead={({ issuer, sign_in_url, certificates }) => {
								form.clearErrors();
								form.setValues({
									...(!provider && { issuer }),
									sign_in_url,
									certificates: certificatesText(certificates),
								});
							}}
						/>
					)}
					<TextInput
						label={
							isSaml
								? "Entity id of the provider"
								: FIELD_LABELS.identity_provider.issuer
						}
						description={
							provider
								? "It cannot be changed. Add another provider instead."
								: isSaml
									? "The value of entityID in the provider's metadata"
									: "The value of issuer in the provider's metadata, for example https://login.example.com/realms/staff"
						}
						withAsterisk
						readOnly={provider !== undefined}
						{...(provider && { variant: "filled" })}
						{...form.getInputProps("issuer")}
					/>
					{isSaml ? (
						<SamlFields inputProps={form.getInputProps} />
					) : (
						<>
							<TextInput
								label={FIELD_LABELS.identity_provider.client_id}
								{...(provider?.is_enabled && {
									description:
										"Another client id switches the provider off until you have tested it.",
								})}
								withAsterisk
								{...form.getInputProps("client_id")}
							/>
							<SecretInput
								secret="client secret"
								label={FIELD_LABELS.identity_provider.client_secret}
								autoComplete="off"
								description={
									provider
										? "Leave it empty to keep the one that is stored."
										: "It is stored encrypted and never shown again."
								}
								withAsterisk={!provider}
								{...form.getInputProps("client_secret")}
							/>
						</>
					)}
					<Select
						label={FIELD_LABELS.identity_provider.role}
						description="Role of people who sign in for the first time without an invitation."
						allowDeselect={false}
						data={[
							{ value: "viewer", label: "Viewers" },
							{ value: "member", label: "Members" },
							{ value: INVITED, label: "Nothing: they need an invitation" },
						]}
						{...form.getInputProps("role")}
					/>
					<Textarea
						label={FIELD_LABELS.identity_provider.group_roles}
						description="One group a line, such as Security team = admin. The highest role of a newcomer's groups counts."
						autosize
						minRows={2}
						{...form.getInputProps("group_roles")}
					/>
					<TextInput
						label={
							isSaml
								? "Attribute with the groups"
								: FIELD_LABELS.identity_provider.groups_claim
						}
						withAsterisk
						{...form.getInputProps("groups_claim")}
					/>
					{isSaml ? (
						<Text size="sm">
							Assay trusts the addresses that a SAML provider names. Use it only
							if nobody but your administrators sets addresses there.
						</Text>
					) : (
						<Switch
							label={FIELD_LABELS.identity_provider.trusts_addresses}
							description="Microsoft Entra ID needs it. Use it only if nobody but your administrators sets addresses there."
							{...form.getInputProps("trusts_addresses", { type: "checkbox" })}
						/>
					)}
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={saving.isSaving}>
							Save
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}
