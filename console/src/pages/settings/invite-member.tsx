import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { SecretOnce } from "../../parts/copy-field.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { LocalAddressNote } from "../../parts/local-address-note.tsx";
import {
	LimitFields,
	limitInput,
	limitValues,
} from "../../parts/membership-limits.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { RoleField } from "../../parts/roles.tsx";
import {
	type SaveOnce,
	SaveOnceButtons,
	SaveOnceModal,
	useSaveOnce,
} from "../../parts/save-once.tsx";
import { DateTime } from "../../parts/time.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings, forgotPasswordQuery } from "../../queries.ts";

type Made = OutputOf<"inviteMember">;

const NEW_MEMBER = {
	role: "member",
	ends_on: null,
	writable_registers: null,
	reads_audit_log: false,
} as const;

/**
 * Asks for an e-mail address and a role, and shows the invitation's link once. `again` makes a new
 * link for an open invitation. `viewer` is the address of somebody who only has to read.
 */
export function InviteMember({
	again,
	viewer,
	onClose,
}: {
	again?: ({ email: string } & Parameters<typeof limitValues>[0]) | undefined;
	viewer?: string | undefined;
	onClose: () => void;
}) {
	const { organizationId } = useOrganization();
	const [made, setMade] = useState<Made | null>(null);
	// If a mail with the link was queued, nobody has to copy it.
	const unsent = made?.is_mailed ? null : made?.invitation_url;
	const once = useSaveOnce(unsent, onClose);
	useReturnFocus();
	const form = useForm({
		initialValues: {
			email: again?.email ?? viewer ?? "",
			...limitValues(
				again ?? (viewer ? { ...NEW_MEMBER, role: "viewer" } : NEW_MEMBER),
			),
		},
	});
	const saving = useSaving(
		form,
		({ email, ...limits }) =>
			call("inviteMember", {
				organization_id: organizationId,
				email: email.trim(),
				...limitInput(limits),
			}),
		(invited) => {
			setMade(invited);
			return forgetReadings();
		},
	);
	return (
		<SaveOnceModal
			once={once}
			size={made ? "lg" : "md"}
			title={
				made
					? made.is_mailed
						? "The invitation is on its way"
						: "Send the invitation link"
					: again
						? "Invite again"
						: "Invite a member"
			}
		>
			{made ? (
				<Invited made={made} once={once} />
			) : (
				<form noValidate onSubmit={saving.submit}>
					<Stack>
						{saving.refusal && (
							<ErrorState error={saving.refusal} title="Nobody was invited" />
						)}
						{again && (
							<Text size="sm">
								This makes a new link. The old link stops working.
							</Text>
						)}
						<TextInput
							type="email"
							label={FIELD_LABELS.invitation.email}
							description="The new member signs in with it."
							withAsterisk
							data-autofocus
							autoComplete="off"
							readOnly={again !== undefined}
							{...form.getInputProps("email")}
						/>
						<RoleField
							value={form.values.role}
							onChange={(role) => form.setFieldValue("role", role)}
							error={form.errors.role}
						/>
						<LimitFields form={form} />
						<Group justify="flex-end">
							<Button
								variant="default"
								disabled={once.isWaiting}
								onClick={once.leave}
							>
								Cancel
							</Button>
							<Button type="submit" loading={saving.isSaving}>
								Invite
							</Button>
						</Group>
					</Stack>
				</form>
			)}
		</SaveOnceModal>
	);
}

function Invited({ made, once }: { made: Made; once: SaveOnce }) {
	const { email, expires_at } = made.invitation;
	const { data: mail } = useQuery(forgotPasswordQuery);
	const why =
		mail?.sends_mail === false
			? "This service has no mail server, so no mail was sent."
			: "No mail was sent, because the service mails only a few invitations a day.";
	return (
		<Stack>
			<Text size="sm">
				{made.is_mailed
					? `A mail with the link is queued for ${email}. Settings → Mail shows when it was sent. If it does not arrive, send the link yourself.`
					: `${why} Send the link to ${email} yourself.`}{" "}
				It works once, until <DateTime value={expires_at} />, and only for this
				address.
			</Text>
			<LocalAddressNote address={made.invitation_url} />
			<SecretOnce label="Invitation link" value={made.invitation_url} />
			<SaveOnceButtons
				secrets="link"
				consequence="Nobody can show it again. Invite again for a new link."
				once={once}
			/>
		</Stack>
	);
}
