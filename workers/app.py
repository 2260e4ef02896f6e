"""The workers' Celery application: `celery -A esrag.workers.app worker`, with the settings of the folder it runs in.

Importing it opens nothing and loads no encoder: the processes that do the work are forked from the one that imports it.
"""

from esrag.settings.layers import resolve

from .tasks import application

app = application(resolve({}).settings)
