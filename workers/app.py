"""The workers' Celery application, with the settings of the current folder.

It is started as `celery -A esrag.workers.app worker`. Importing it opens nothing and loads no
encoder: the processes that do the work are forked from the one that imports it.
"""

from esrag.settings.layers import resolve

from .tasks import application

app = application(resolve({}).settings)
