import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { deviceWords } from "../../../../src/sign-in/browser-words.ts";
import {
	MAX_SESSION_DAYS,
	SESSION_DAYS,
} from "../../../../src/sign-in/session-lifetime.ts";
import { call, type OutputOf } from "../../api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import {
	TokenChecklist,
	useTokenChecklist,
} from "../../parts/token-checklist.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import styles from "./account.module.css";
import { revokeTokens } from "./account-calls.ts";
import { Section } from "./account-section.tsx";

const MINUTE_MS = 60_000;

type Session = OutputOf<"listSessions">["sessions"][number];

/** Lists the user's sessions, with this browser first. */
export function Sessions() {
	const found = useQuery(operationQuery("listSessions", {}));
	const [ending, setEnding] = useState<Session | "others" | null>(null);
	const sessions = (found.data?.sessions ?? []).toSorted(
		(a, b) => Number(b.is_current) - Number(a.is_current),
	);
	const checklist = useTokenChecklist("none");
	const close = () => setEnding(null);
	return (
		<Section
			title="Sessions"
			description={`The browsers in which you are signed in. A session ends after ${SESSION_DAYS} days without use, and after ${MAX_SESSION_DAYS} days in any case. An organization can end it earlier for itself.`}
			action={
				sessions.length > 1 && (
					<Button
						variant="default"
						size="xs"
						onClick={() => setEnding("others")}
					>
						Sign out everywhere else …
					</Button>
				)
			}
		>
			{found.isError ? (
				<ErrorState error={found.error} onRetry={found.refetch} />
			) : !found.data ? (
				<RowsSkeleton rows={3} />
			) : (
				<ul className={styles.rows}>
					{sessions.map((session) => (
						<li key={session.id} className={styles.row}>
							<SessionRow session={session} onEnd={() => setEnding(session)} />
						</li>
					))}
				</ul>
			)}
			<Confirm
				opened={ending !== null}
				onClose={close}
				title={
					ending === "others"
						? "Sign out everywhere else?"
						: "Sign out of this session?"
				}
				action="Sign out"
				onConfirm={async () => {
					if (ending === null) return;
					if (ending === "others") {
						await call("revokeOtherSessions", {});
						await revokeTokens(checklist.tickedIds);
					} else await call("revokeSession", { id: ending.id });
					await forgetReadings();
				}}
			>
				<Stack>
					<span>
						{ending === "others"
							? "All your sessions except this one end with their next request."
							: `${deviceWords(ending?.user_agent ?? null)} has to sign in again with its next request. API tokens keep working.`}{" "}
						If you do not recognize a session, change your password too.
					</span>
					{ending === "others" && (
						<TokenChecklist
							checklist={checklist}
							label="API tokens to revoke"
							description="Tokens keep working unless you tick them. Tick those that somebody else may know. Programs that use a revoked token stop working."
						/>
					)}
				</Stack>
			</Confirm>
		</Section>
	);
}

function SessionRow({
	session,
	onEnd,
}: {
	session: Session;
	onEnd: () => void;
}) {
	const { user_agent, address, created_at, last_seen_at } = session;
	const { last_user_agent, last_address } = session;
	const device = deviceWords(user_agent);
	const lastDevice = deviceWords(last_user_agent);
	return (
		<Group justify="space-between" wrap="nowrap" gap="sm">
			<Stack gap={2} miw={0}>
				<Group gap="xs">
					<Text fw={500} {...(user_agent ? { title: user_agent } : {})}>
						{device}
					</Text>
					{session.is_current && (
						<StatusBadge tone="active" label="This session" />
					)}
				</Group>
				<Text size="sm" c="dimmed">
					{session.is_current ? "In use now" : <LastUse value={last_seen_at} />}
					{last_address && ` from ${last_address}`}
					{lastDevice !== device && ` with ${lastDevice}`}
				</Text>
				<Text size="sm" c="dimmed">
					Signed in <DateTime value={created_at} />
					{address && ` from ${address}`}
					{session.passkey && ` with the passkey ${session.passkey}`}
				</Text>
			</Stack>
			{!session.is_current && (
				<Button
					variant="default"
					size="xs"
					onClick={onEnd}
					aria-label={`Sign out ${device}`}
					flex="none"
				>
					Sign out
				</Button>
			)}
		</Group>
	);
}

/**
 * Shows when a session was last used. The server records this once a minute, so more recent times
 * are all shown the same way.
 */
function LastUse({ value }: { value: string }) {
	if (Date.now() - Date.parse(value) < 2 * MINUTE_MS) {
		return <>Used within the last two minutes</>;
	}
	return (
		<>
			Last used <RelativeTime value={value} />
		</>
	);
}
