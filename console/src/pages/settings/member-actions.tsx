import { ActionIcon, Button, Group, Menu, Stack, Text } from "@mantine/core";
import {
	IconChevronDown,
	IconDots,
	IconKey,
	IconShieldOff,
	IconUserMinus,
	IconUserShield,
} from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { RESET_LINK_HOURS } from "../../../../src/sign-in/link-hours.ts";
import { call } from "../../api.ts";
import { ChangeRole } from "../../parts/change-role.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { SecretOnce } from "../../parts/copy-field.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { LocalAddressNote } from "../../parts/local-address-note.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import type { Member } from "../../parts/roles.tsx";
import {
	SaveOnceButtons,
	SaveOnceModal,
	useSaveOnce,
} from "../../parts/save-once.tsx";
import { forgetReadings } from "../../queries.ts";

type Dialog = "role" | "password" | "two-factor" | "remove";

/**
 * Shows the actions that an administrator may take on a member. Users change their own account on
 * the Account page.
 */
export function MemberActions({
	member,
	isSelf,
	isLastAdmin,
	isButton = false,
	onRemoved,
}: {
	member: Member;
	isSelf: boolean;
	isLastAdmin: boolean;
	/** True for a button with the word "Actions", as on the member's own page. */
	isButton?: boolean;
	/** Is called before the member is read again, which a removed member cannot be. */
	onRemoved?: () => Promise<void>;
}) {
	const [dialog, setDialog] = useState<Dialog | null>(null);
	const close = () => setDialog(null);
	const whose = {
		organization_id: member.organization_id,
		user_id: member.user_id,
	};
	return (
		<>
			<Menu position="bottom-end" width={240}>
				<Menu.Target>
					{isButton ? (
						<Button
							variant="default"
							aria-label={`Actions for ${member.name}`}
							rightSection={<IconChevronDown size={16} aria-hidden />}
						>
							Actions
						</Button>
					) : (
						<ActionIcon
							variant="subtle"
							color="gray"
							c="var(--mantine-color-text)"
							aria-label={`Actions for ${member.name}`}
						>
							<IconDots size={18} aria-hidden />
						</ActionIcon>
					)}
				</Menu.Target>
				<Menu.Dropdown>
					<Menu.Item
						leftSection={<IconUserShield size={16} aria-hidden />}
						onClick={() => setDialog("role")}
					>
						Change role …
					</Menu.Item>
					{!isSelf && (
						<Menu.Item
							leftSection={<IconKey size={16} aria-hidden />}
							onClick={() => setDialog("password")}
						>
							Password reset link …
						</Menu.Item>
					)}
					{!isSelf && member.two_factor_enabled && (
						<Menu.Item
							leftSection={<IconShieldOff size={16} aria-hidden />}
							onClick={() => setDialog("two-factor")}
						>
							Reset two-factor …
						</Menu.Item>
					)}
					{!isSelf && (
						<>
							<Menu.Divider />
							<Menu.Item
								color="var(--mantine-color-error)"
								leftSection={<IconUserMinus size={16} aria-hidden />}
								onClick={() => setDialog("remove")}
							>
								Remove …
							</Menu.Item>
						</>
					)}
				</Menu.Dropdown>
			</Menu>
			{dialog === "role" && (
				<ChangeRole
					member={member}
					isSelf={isSelf}
					isLastAdmin={isLastAdmin}
					onClose={close}
				/>
			)}
			{dialog === "password" && (
				<PasswordLink member={member} onClose={close} />
			)}
			<Confirm
				opened={dialog === "two-factor"}
				onClose={close}
				title={`Reset two-factor authentication of ${member.name}?`}
				action="Reset two-factor"
				onConfirm={async () => {
					await call("resetTwoFactor", whose);
					await forgetReadings();
				}}
			>
				Use this if {member.name} has lost the authenticator app and the
				recovery codes. All sessions end, and the password alone is then enough
				to sign in. Make sure that the request really comes from {member.name}.
			</Confirm>
			<Confirm
				opened={dialog === "remove"}
				onClose={close}
				title={`Remove ${member.name}?`}
				action="Remove the member"
				onConfirm={async () => {
					await call("removeMember", whose);
					await onRemoved?.();
					await forgetReadings();
				}}
			>
				{member.name} and their API tokens lose access to this organization with
				their next request. The account stays, and the audit log keeps its
				entries. You can invite {member.name} again.
			</Confirm>
		</>
	);
}

function PasswordLink({
	member,
	onClose,
}: {
	member: Member;
	onClose: () => void;
}) {
	useReturnFocus();
	const making = useMutation({
		mutationFn: () =>
			call("createPasswordResetLink", {
				organization_id: member.organization_id,
				user_id: member.user_id,
			}),
	});
	const once = useSaveOnce(making.data?.reset_url, onClose);
	return (
		<SaveOnceModal
			once={once}
			size={making.isSuccess ? "lg" : "md"}
			title={
				making.isSuccess
					? "Send the link"
					: `Make a password reset link for ${member.name}?`
			}
		>
			{making.isSuccess ? (
				<Stack>
					<Text size="sm">
						Send it to {member.email}. It works once, within {RESET_LINK_HOURS}{" "}
						hours.
					</Text>
					<LocalAddressNote address={making.data.reset_url} />
					<SecretOnce
						label="Password reset link"
						value={making.data.reset_url}
					/>
					<SaveOnceButtons
						secrets="link"
						consequence="Nobody can show it again. You would have to make another one."
						once={once}
					/>
				</Stack>
			) : (
				<Stack>
					{making.isError && (
						<ErrorState error={making.error} title="The link was not made" />
					)}
					<Text size="sm">
						{member.name} can set a new password with it, which ends all their
						sessions. An earlier link stops working. Anybody who has the link
						can use it: send it in a way that only {member.name} can read.
					</Text>
					<Group justify="flex-end">
						<Button
							variant="default"
							disabled={once.isWaiting}
							onClick={once.leave}
							data-autofocus
						>
							Cancel
						</Button>
						<Button loading={making.isPending} onClick={() => making.mutate()}>
							Make the link
						</Button>
					</Group>
				</Stack>
			)}
		</SaveOnceModal>
	);
}
