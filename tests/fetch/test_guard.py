import pytest

from analecta.errors import SettingsError
from analecta.fetch.guard import Guard
from analecta.urls import canonical

PRIVATE = """
127.0.0.1 127.8.9.1 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 169.254.1.1 0.0.0.0 0.1.2.3
100.64.0.1 100.100.100.200 168.63.129.16 192.0.0.192 192.0.2.1 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1
239.1.1.1 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:a9fe:a9fe 64:ff9b::7f00:1
64:ff9b::a9fe:a9fe 64:ff9b:1::7f00:1 2002:7f00:1:: 2002:a9fe:a9fe::1 2001:0:7f00:1:: fc00::1 fd00:ec2::254
fe80::1 fe80::1%eth0 fec0::1 ff02::1 2001:db8::1 100::1 2001:0:53aa:64c:0:fbd5:80ff:fffe
""".split()
PUBLIC = "93.184.216.34 8.8.8.8 172.32.0.1 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::808:808 1.1.1.1".split()
LITERALS = """
http://2130706433/ http://0x7f.1/ http://017700000001/ http://0x7f000001/ http://127.1/ http://[::ffff:127.0.0.1]/
http://[64:ff9b::7f00:1]/ http://①②⑦.0.0.1/ http://127。0。0。1/ http://0xa9fea9fe/ http://[::]/ http://0/
""".split()


@pytest.mark.parametrize("address", PRIVATE)
def test_f16_private_and_special_addresses_are_refused(address: str) -> None:
    assert Guard().refusal(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_let_through(address: str) -> None:
    assert Guard().refusal(address) is None


@pytest.mark.parametrize("url", LITERALS)
def test_f16_every_way_to_write_a_private_address_is_refused(url: str) -> None:
    target = canonical(url)
    assert target is not None
    assert Guard().refusal(target.host)


def test_an_allowed_network_is_let_through_and_no_more() -> None:
    guard = Guard(allow=["127.0.0.0/8"])
    assert guard.refusal("127.0.0.1") is None
    assert guard.refusal("10.0.0.1")


def test_what_is_no_address_is_refused() -> None:
    assert "no IP address" in str(Guard().refusal("localhost"))


def test_a_network_that_is_none_is_a_bad_setting() -> None:
    with pytest.raises(SettingsError, match="CIDR"):
        Guard(allow=["10.0.0.1/8"])
