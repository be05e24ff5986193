# SPDX-License-Identifier: BSD-3-Clause
"""Client of the API of hopsightd, hopsight-controller and hopsight-collector. Needs pyzmq only."""

from .client import Client, Reply, Transaction
from .errors import Changed, Error, NoAnswer, Refused
from .keys import Keys
from .subscription import Gap, Message, Subscription, Unreadable

__all__ = ["Changed", "Client", "Error", "Gap", "Keys", "Message", "NoAnswer", "Refused", "Reply", "Subscription",
           "Transaction", "Unreadable"]
