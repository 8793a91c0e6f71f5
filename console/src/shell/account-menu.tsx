import { ActionIcon, Menu, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconLogout, IconUserCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import type { OutputOf } from "../api.ts";
import { signOut } from "../auth.ts";
import { sentenceOf } from "../parts/error-state.tsx";
import { showFailure } from "../parts/show-failure.ts";
import { meQuery, operationQuery, queryClient } from "../queries.ts";

/** Returns the address that leads to the page of the provider on which people sign out there. */
function signOutAddress({
	identity_provider_id,
}: OutputOf<"getProfile">["profile"]): string {
	const query = identity_provider_id
		? `?${new URLSearchParams({ provider: identity_provider_id })}`
		: "";
	return `/api/sign-in-with-provider/sign-out${query}`;
}

/** The menu of the signed-in user: the account, and signing out. */
export function AccountMenu() {
	const { data: me } = useQuery(meQuery);
	const router = useRouter();
	const [isOpen, setIsOpen] = useState(false);
	const { data } = useQuery({
		...operationQuery("getProfile", {}),
		enabled: isOpen,
	});
	/** Signs out here and, with an address, goes on to the provider's page for signing out. */
	const leave = async (to?: string) => {
		try {
			await signOut();
		} catch (error) {
			showFailure("You are still signed in", sentenceOf(error));
			return;
		}
		// None of the loaded data may remain for the next user.
		queryClient.clear();
		notifications.clean();
		if (to) location.assign(to);
		else await router.navigate({ to: "/sign-in" });
	};
	return (
		<Menu position="bottom-end" width={240} onChange={setIsOpen}>
			<Menu.Target>
				<ActionIcon
					variant="subtle"
					color="gray"
					c="var(--mantine-color-text)"
					size="lg"
					aria-label="Your account"
				>
					<IconUserCircle size={20} aria-hidden />
				</ActionIcon>
			</Menu.Target>
			<Menu.Dropdown>
				{me && (
					<Menu.Label>
						<Text size="sm" fw={600} truncate c="var(--mantine-color-text)">
							{me.name}
						</Text>
						<Text size="xs" truncate>
							{me.email}
						</Text>
					</Menu.Label>
				)}
				<Menu.Item
					component={Link}
					to="/account"
					leftSection={<IconUserCircle size={16} aria-hidden />}
				>
					Account and security
				</Menu.Item>
				<Menu.Item
					leftSection={<IconLogout size={16} aria-hidden />}
					onClick={() => void leave()}
				>
					Sign out
				</Menu.Item>
				{data?.profile.provider && (
					<Menu.Item
						leftSection={<IconLogout size={16} aria-hidden />}
						onClick={() => void leave(signOutAddress(data.profile))}
					>
						Sign out of {data.profile.provider} too
					</Menu.Item>
				)}
			</Menu.Dropdown>
		</Menu>
	);
}
