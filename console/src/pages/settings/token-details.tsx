import { Alert, Button, Drawer, Group, Stack, Text } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { TextLink } from "../../parts/links.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { forgetReadings, meQuery } from "../../queries.ts";
import { RotateToken } from "./rotate-token.tsx";
import { TokenUsage } from "./token-usage.tsx";
import { type ApiToken, Scopes, TokenState } from "./token-words.tsx";

/**
 * Shows who uses a token, so that the reader can decide whether to revoke it. With
 * `isOfOrganization`, the reader is an administrator who looks at a token of another user.
 */
export function TokenDetails({
	token,
	isOfOrganization,
	onClose,
}: {
	token: ApiToken;
	isOfOrganization: boolean;
	onClose: () => void;
}) {
	const [dialog, setDialog] = useState<"rotate" | "revoke" | null>(null);
	useReturnFocus();
	const { organizationId } = useOrganization();
	const { data: me } = useQuery(meQuery);
	const isOwn = token.user.id === me?.id;
	const close = () => setDialog(null);
	return (
		<Drawer
			opened
			onClose={onClose}
			position="right"
			size="lg"
			title={token.name}
			closeButtonProps={{ "aria-label": "Close" }}
			// If a dialog is open above the drawer, only the dialog handles the keyboard.
			closeOnEscape={dialog === null}
			trapFocus={dialog === null}
		>
			<Stack gap="lg">
				<Group justify="space-between" gap="xs">
					<TokenState token={token} />
					{token.status !== "REVOKED" && (
						<Group gap="xs">
							{isOwn && !token.app && (
								<Button
									size="xs"
									variant="default"
									leftSection={<IconRefresh size={14} aria-hidden />}
									onClick={() => setDialog("rotate")}
								>
									Rotate
								</Button>
							)}
							<Button
								size="xs"
								color="red.9"
								onClick={() => setDialog("revoke")}
							>
								Revoke
							</Button>
						</Group>
					)}
				</Group>
				{token.is_old && token.status === "ACTIVE" && isOwn && (
					<Alert color="yellow" variant="outline" title="This token is old">
						Rotate it: make a second token, use that one instead, and revoke
						this one when nothing uses it.
					</Alert>
				)}
				<Facts token={token} isOfOrganization={isOfOrganization} />
				{isOfOrganization && (
					<Text size="sm">
						Only calls that concerned this organization count here.
					</Text>
				)}
				<TokenUsage token={token} />
				<ChangesLink tokenId={token.id} />
			</Stack>
			{dialog === "rotate" && <RotateToken token={token} onClose={close} />}
			<Confirm
				opened={dialog === "revoke"}
				onClose={close}
				title={`Revoke ${token.name}?`}
				action="Revoke the token"
				onConfirm={async () => {
					await (isOfOrganization
						? call("revokeOrganizationApiToken", {
								organization_id: organizationId,
								id: token.id,
							})
						: call("revokeApiToken", { id: token.id }));
					await forgetReadings();
				}}
			>
				It stops working with the next request, in every organization. This
				cannot be undone.{" "}
				{token.last_used_at ? (
					<>
						It was last used{isOfOrganization && " in this organization"}{" "}
						<RelativeTime value={token.last_used_at} />
						{token.last_used_client && ` by ${token.last_used_client}`}.
					</>
				) : isOfOrganization ? (
					"It was never used in this organization."
				) : (
					"It was never used."
				)}
			</Confirm>
		</Drawer>
	);
}

function Facts({
	token,
	isOfOrganization,
}: {
	token: ApiToken;
	isOfOrganization: boolean;
}) {
	const facts: [string, ReactNode][] = [
		...(token.description
			? [["Description", token.description] as [string, ReactNode]]
			: []),
		["Acts for", `${token.user.name} (${token.user.email})`],
		["Created", <DateTime key="created" value={token.created_at} />],
		[
			"Expires",
			token.expires_at ? (
				<DateTime key="expires" value={token.expires_at} />
			) : (
				"Never"
			),
		],
		...(token.revoked_at
			? [
					["Revoked", <DateTime key="revoked" value={token.revoked_at} />] as [
						string,
						ReactNode,
					],
				]
			: []),
		["May", <Scopes key="scopes" token={token} />],
		[
			isOfOrganization ? "Last used here" : "Last used",
			<LastUse key="used" token={token} />,
		],
	];
	return (
		<Stack component="dl" gap={6} m={0}>
			{facts.map(([name, value]) => (
				<Group key={name} gap="xs" align="flex-start" wrap="nowrap">
					<Text component="dt" size="sm" c="dimmed" w={100} flex="none">
						{name}
					</Text>
					<Text
						component="dd"
						m={0}
						size="sm"
						style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
					>
						{value}
					</Text>
				</Group>
			))}
		</Stack>
	);
}

function LastUse({ token }: { token: ApiToken }) {
	if (!token.last_used_at) return "Never";
	return (
		<>
			<DateTime value={token.last_used_at} />
			{token.last_used_client && ` by ${token.last_used_client}`}
			{token.last_used_address && ` from ${token.last_used_address}`}
		</>
	);
}

/** Links to the audit log, where administrators can read what was done with the token. */
function ChangesLink({ tokenId }: { tokenId: string }) {
	const { organizationId, mayAdmin } = useOrganization();
	if (!mayAdmin) return null;
	return (
		<TextLink
			to="/o/$org/settings/audit-log"
			params={{ org: organizationId }}
			search={{ token_id: tokenId }}
			size="sm"
		>
			Changes with this token in the audit log
		</TextLink>
	);
}
