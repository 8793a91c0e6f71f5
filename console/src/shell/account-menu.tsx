import { ActionIcon, Menu, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconLogout, IconUserCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { signOut } from "../auth.ts";
import { sentenceOf } from "../parts/error-state.tsx";
import { meQuery, queryClient } from "../queries.ts";

export function AccountMenu() {
	const { data: me } = useQuery(meQuery);
	const router = useRouter();
	const leave = async () => {
		try {
			await signOut();
		} catch (error) {
			notifications.show({
				color: "red",
				title: "You are still signed in",
				message: sentenceOf(error),
			});
			return;
		}
		// None of the loaded data may remain for the next user.
		queryClient.clear();
		await router.navigate({ to: "/sign-in" });
	};
	return (
		<Menu position="bottom-end" width={240}>
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
			</Menu.Dropdown>
		</Menu>
	);
}
